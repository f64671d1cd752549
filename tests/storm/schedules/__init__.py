"""Schedules that change while many instances fire them; every fire is checked against the definition in force."""
