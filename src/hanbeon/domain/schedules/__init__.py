"""When schedules fire: cron expressions, zones and their jumps, and what becomes of fires that were missed."""
