UPDATE hanbeon.export AS e SET result_uri = r.result_uri, result_checksum = r.result_checksum,
  progress = CASE WHEN r.succeeded THEN 100 ELSE e.progress END
FROM @rows($1 AS r; uid @uuid, result_uri text, result_checksum text, succeeded boolean)
WHERE e.uid = r.uid
RETURNING e.id, e.uid, e.owner, e.job_type, e.replay_id, e.root, e.folder, e.progress
