"""Fire times of schedules: cron expressions, time zones and their transitions, and the handling of missed fires."""
