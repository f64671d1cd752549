SELECT e.id, e.replay_id, j.state FROM hanbeon.export AS e JOIN hanbeon.job AS j ON @has_id(j; e.uid)
LEFT JOIN hanbeon.replay AS r ON r.id = e.replay_id
WHERE @hidden(j.state) IN (@unfinished_states) AND r.id IS NULL
