SELECT w.id, w.run_id, j.state
FROM hanbeon.workflow AS w LEFT JOIN hanbeon.job AS j ON @has_id(j; w.run_id)
WHERE w.run_id IS NOT NULL AND coalesce(j.state, 'gone') NOT IN (@unfinished_states)
ORDER BY w.id
