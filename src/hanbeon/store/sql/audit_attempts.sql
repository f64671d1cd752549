SELECT a.job, a.attempt, a.status, a.started_at, a.ended_at FROM hanbeon.attempt AS a
WHERE a.job > $1 AND a.job <= $2
ORDER BY a.job, a.attempt, a.started_at
