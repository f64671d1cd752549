INSERT INTO hanbeon.export (uid, job_type, owner, replay_id, root, folder, options, progress, phase, message,
  created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, 0, '', '', hanbeon.now())
RETURNING id, created_at
