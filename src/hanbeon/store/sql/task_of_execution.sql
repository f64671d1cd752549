SELECT e.task_id FROM hanbeon.execution AS e WHERE e.job = $1
