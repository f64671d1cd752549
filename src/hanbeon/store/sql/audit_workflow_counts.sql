SELECT (SELECT count(*) FROM hanbeon.workflow) AS workflows, (SELECT count(*) FROM hanbeon.workflow_run) AS runs
