-- name: expire_leases
-- Whether a body has begun is no longer known: it may have after the backup was taken.
UPDATE hanbeon.job SET locked_until = hanbeon.now(), unbegun_fence = NULL WHERE state = 'running' RETURNING seq

-- name: incarnation
SELECT id, since FROM hanbeon.incarnation WHERE only_row = 1

-- name: lock_incarnation
-- SQLite has one writer at a time: nothing else is under way.
SELECT id FROM hanbeon.incarnation WHERE only_row = 1

-- name: now
SELECT hanbeon.now() AS now

-- name: probe_write
-- Changes nothing, and is written all the same.
UPDATE hanbeon.pruned SET before = before WHERE only_row = 1

-- name: renew_incarnation
UPDATE hanbeon.incarnation SET id = @random_id, since = hanbeon.now() WHERE only_row = 1 RETURNING id, since

-- name: schema_version
SELECT version, runs_from FROM hanbeon.schema_version ORDER BY version DESC LIMIT 1

-- name: stop_instances
UPDATE hanbeon.instance SET stopped_at = hanbeon.now(), running = 0 WHERE stopped_at IS NULL RETURNING id
