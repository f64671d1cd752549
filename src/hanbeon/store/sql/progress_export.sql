UPDATE hanbeon.export AS e
SET progress = CASE WHEN $2 > e.progress THEN $2 ELSE e.progress END, phase = $3, message = $4
WHERE e.uid = $1
RETURNING e.id, e.owner, e.job_type, e.replay_id, e.progress, hanbeon.now() AS now
