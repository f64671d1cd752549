-- name: add_export
INSERT INTO hanbeon.export (uid, job_type, owner, replay_id, root, folder, options, progress, phase, message,
  created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, 0, '', '', hanbeon.now())
RETURNING id, created_at

-- name: add_replay
INSERT INTO hanbeon.replay (uid, owner, name, title, root, file, bytes, checksum, duration_ms, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, hanbeon.now())

-- name: add_unwanted_files
INSERT INTO hanbeon.unwanted_file (root, path, kept, due_at)
SELECT r.root, r.path, r.kept, n.now + r.delay_us
FROM @rows($1 AS r; root text, path text, kept text, delay_us bigint) CROSS JOIN (SELECT hanbeon.now() AS now) AS n
WHERE true
RETURNING id

-- name: audit_export_replays
SELECT e.id, e.replay_id, j.state FROM hanbeon.export AS e JOIN hanbeon.job AS j ON @has_id(j; e.uid)
LEFT JOIN hanbeon.replay AS r ON r.id = e.replay_id
WHERE @hidden(j.state) IN (@unfinished_states) AND r.id IS NULL

-- name: audit_exports
SELECT @export_columns FROM hanbeon.export AS e JOIN hanbeon.job AS j ON @has_id(j; e.uid)
WHERE e.id > $1 ORDER BY e.id LIMIT $2

-- name: audit_exports_alone
SELECT e.id, CAST(e.uid AS text) AS uid, 'export' AS kind
FROM hanbeon.export AS e LEFT JOIN hanbeon.job AS j ON @has_id(j; e.uid) WHERE j.id IS NULL
UNION ALL
SELECT j.seq, CAST(j.id AS text), 'job'
FROM hanbeon.lane AS l JOIN hanbeon.job AS j ON (j.lane & 4294967295) = l.n
LEFT JOIN hanbeon.export AS e ON e.uid = j.id
WHERE l.task IN (@export_tasks) AND e.id IS NULL

-- name: audit_replay_usage
SELECT b.owner, sum(b.used) AS used, sum(b.noted) AS noted
FROM (
  SELECT r.owner, r.bytes AS used, 0 AS noted FROM hanbeon.replay AS r
  UNION ALL
  SELECT u.owner, 0, u.bytes FROM hanbeon.replay_usage AS u
) AS b
GROUP BY b.owner HAVING sum(b.used) <> sum(b.noted)

-- name: audit_replays
SELECT @replay_columns FROM hanbeon.replay AS r WHERE r.id > $1 ORDER BY r.id LIMIT $2

-- name: count_exports
SELECT count(*) AS rows FROM hanbeon.export AS e JOIN hanbeon.job AS j ON @has_id(j; e.uid)
WHERE e.owner = $1 AND e.job_type @in($2 text) AND @hidden(j.state) @in($3 text)

-- name: count_prunable_replays
SELECT count(*) AS rows FROM hanbeon.replay AS r
WHERE r.created_at < (SELECT hanbeon.now()) - $1
  AND NOT EXISTS (SELECT 1 FROM hanbeon.export AS e WHERE e.replay_id = r.id)

-- name: count_replays
SELECT count(*) AS rows FROM hanbeon.replay AS r WHERE r.owner = $1

-- name: delete_replays
DELETE FROM hanbeon.replay WHERE id @in($1 bigint)

-- name: due_unwanted_files
SELECT f.id, f.root, f.path, f.kept FROM hanbeon.unwanted_file AS f
WHERE f.due_at <= (SELECT hanbeon.now()) ORDER BY f.due_at LIMIT $1 @lock_to_delete

-- name: end_exports
UPDATE hanbeon.export AS e SET result_uri = r.result_uri, result_checksum = r.result_checksum,
  progress = CASE WHEN r.succeeded THEN 100 ELSE e.progress END
FROM @rows($1 AS r; uid @uuid, result_uri text, result_checksum text, succeeded boolean)
WHERE e.uid = r.uid
RETURNING e.id, e.uid, e.owner, e.job_type, e.replay_id, e.root, e.folder, e.progress

-- name: export_by_uid
SELECT @export_columns FROM hanbeon.export AS e JOIN hanbeon.job AS j ON @has_id(j; e.uid) WHERE e.uid = $1

-- name: export_of
SELECT @export_columns FROM hanbeon.export AS e JOIN hanbeon.job AS j ON @has_id(j; e.uid)
WHERE e.id = $1 AND e.owner = $2

-- name: exported_replays
SELECT DISTINCT e.replay_id AS id FROM hanbeon.export AS e WHERE e.replay_id @in($1 bigint)

-- name: exports_by_number
SELECT e.id AS wire_id, e.uid AS id, e.job_type, e.root, e.folder FROM hanbeon.export AS e WHERE e.id @in($1 bigint)

-- name: exports_of
SELECT @export_columns FROM hanbeon.export AS e JOIN hanbeon.job AS j ON @has_id(j; e.uid)
WHERE e.owner = $1 AND e.job_type @in($2 text) AND @hidden(j.state) @in($3 text)
ORDER BY e.id DESC LIMIT $4 OFFSET $5

-- name: forget_unwanted_files
DELETE FROM hanbeon.unwanted_file WHERE id @in($1 bigint) RETURNING id

-- name: free_replay_space
UPDATE hanbeon.replay_usage AS u SET bytes = u.bytes - r.bytes
FROM @rows($1 AS r; owner text, bytes bigint)
WHERE u.owner = r.owner

-- name: lock_replay
SELECT @replay_columns FROM hanbeon.replay AS r WHERE r.id = $1 AND r.owner = $2 @lock

-- name: progress_export
UPDATE hanbeon.export AS e
SET progress = CASE WHEN $2 > e.progress THEN $2 ELSE e.progress END, phase = $3, message = $4
WHERE e.uid = $1
RETURNING e.id, e.owner, e.job_type, e.replay_id, e.progress, hanbeon.now() AS now

-- name: prunable_replays
SELECT @replay_columns FROM hanbeon.replay AS r
WHERE r.created_at < (SELECT hanbeon.now()) - $1
  AND NOT EXISTS (SELECT 1 FROM hanbeon.export AS e WHERE e.replay_id = r.id)
ORDER BY r.created_at LIMIT $2 @lock_skip_run

-- name: prune_exports
DELETE FROM hanbeon.export WHERE uid IN (SELECT j.id FROM hanbeon.job AS j WHERE j.seq @in($1 bigint))

-- name: put_off_unwanted_files
UPDATE hanbeon.unwanted_file SET due_at = (SELECT hanbeon.now()) + $2 WHERE id @in($1 bigint)

-- name: replay_by_uid
SELECT @replay_columns FROM hanbeon.replay AS r WHERE r.uid = $1

-- name: replay_of
SELECT @replay_columns FROM hanbeon.replay AS r WHERE r.id = $1 AND r.owner = $2

-- name: replays_of
SELECT @replay_columns FROM hanbeon.replay AS r WHERE r.owner = $1 ORDER BY r.id DESC LIMIT $2 OFFSET $3

-- name: reserve_replay_space
UPDATE hanbeon.unwanted_file SET uploader = $2, reserved = $3 WHERE id = $1 RETURNING id

-- name: reserved_replay_space
SELECT CAST(coalesce(sum(f.reserved), 0) AS bigint) AS bytes FROM hanbeon.unwanted_file AS f
WHERE f.uploader = $1 AND f.id <> $2

-- name: unfinished_exports_of_replay
SELECT e.id FROM hanbeon.export AS e JOIN hanbeon.job AS j ON @has_id(j; e.uid)
WHERE e.replay_id = $1 AND @hidden(j.state) IN (@unfinished_states) ORDER BY e.id LIMIT 1

-- name: unwant_pruned_exports
INSERT INTO hanbeon.unwanted_file (root, path, kept, due_at)
SELECT e.root, e.folder, '', hanbeon.now()
FROM hanbeon.export AS e JOIN hanbeon.job AS j ON @has_id(j; e.uid) WHERE j.seq @in($1 bigint)

-- name: use_replay_space
INSERT INTO hanbeon.replay_usage AS u (owner, bytes) VALUES ($1, $2)
ON CONFLICT (owner) DO UPDATE SET bytes = u.bytes + excluded.bytes
RETURNING bytes
