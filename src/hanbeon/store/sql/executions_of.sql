SELECT @listed_columns, e.type, CAST(e.schedule_id AS text) AS schedule_id, e.scheduled_at, e.requested_by, i.name AS instance_name
FROM hanbeon.execution AS e
JOIN hanbeon.jobs AS v ON v.seq = e.job
JOIN hanbeon.job AS j ON j.seq = e.job
LEFT JOIN hanbeon.instance AS i ON i.id = j.instance
WHERE e.job @in($1 bigint)
ORDER BY e.job DESC
