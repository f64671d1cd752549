SELECT e.id FROM hanbeon.export AS e JOIN hanbeon.job AS j ON @has_id(j; e.uid)
WHERE e.replay_id = $1 AND @hidden(j.state) IN (@unfinished_states) ORDER BY e.id LIMIT 1
