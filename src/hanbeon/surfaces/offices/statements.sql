-- name: add_office
INSERT INTO hanbeon.office (id, name, config, sessions, created_at, changed_at)
VALUES ($1, $2, $3, $4, hanbeon.now(), hanbeon.now())
ON CONFLICT DO NOTHING
RETURNING id

-- name: advance_relay
UPDATE hanbeon.relay SET relayed_to = $1 WHERE only_row = 1

-- name: change_office
UPDATE hanbeon.office
SET name = $2, config = $3, sessions = $4, version = version + 1, changed_at = hanbeon.now()
WHERE id = $1
RETURNING version, changed_at

-- name: count_listeners
SELECT l.kind, l.disabled_at IS NOT NULL AS disabled, count(*) AS number FROM hanbeon.listener AS l GROUP BY 1, 2

-- name: delete_office
DELETE FROM hanbeon.office WHERE id = $1 RETURNING hanbeon.now() AS deleted_at

-- name: disable_listener
UPDATE hanbeon.listener SET disabled_at = hanbeon.now() WHERE id = $1

-- name: drop_listeners
DELETE FROM hanbeon.listener WHERE id @in($1 @uuid)

-- name: due_of_queue
SELECT j.seq FROM hanbeon.job AS j
WHERE j.state = 'pending' AND j.lane >= $1 AND j.lane < $2 AND NOT j.blocked AND j.run_at <= (SELECT hanbeon.now())
ORDER BY j.seq LIMIT $3 @lock_skip

-- name: enable_listener
UPDATE hanbeon.listener SET disabled_at = NULL, failures = 0, failing_since = NULL WHERE id = $1

-- name: first_since
SELECT min(l.since) AS since FROM hanbeon.listener AS l

-- name: hand_over
-- The rows are locked. This is the only place where a job changes its lane, before it has ever run.
UPDATE hanbeon.job AS j SET lane = r.lane, timeout_us = r.timeout_us, policy = r.policy
FROM @rows($1 AS r; seq bigint, lane bigint, timeout_us bigint, policy text)
WHERE @few(r.seq) AND j.seq = r.seq AND @hidden(j.state) IN ('pending', 'ready')
RETURNING j.seq

-- name: keep_office
-- Locked against changes until the commit; transactions that create jobs in it share the lock. Also a precondition of
-- `enqueue_one`.
SELECT o.version FROM hanbeon.office AS o WHERE o.id = $1 @share

-- name: lanes_of_task
SELECT l.n, l.role FROM hanbeon.lane AS l WHERE l.queue_id = $1 AND l.task = $2 ORDER BY l.n

-- name: listener_by_id
SELECT l.id, l.office_id, l.kind, l.position, l.url, l.secret, l.events, l.since, l.created_at, l.failures, l.failing_since,
  l.last_error, l.last_failure_at, l.last_success_at, l.disabled_at, o.name AS office_name
FROM hanbeon.listener AS l JOIN hanbeon.office AS o ON o.id = l.office_id
WHERE l.id = $1

-- name: listener_failed
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.listener AS j
SET failures = j.failures + 1, failing_since = coalesce(j.failing_since, n.now), last_error = $2, last_failure_at = n.now
FROM n
WHERE j.id = $1
RETURNING j.kind, j.failures, j.failing_since, j.last_success_at, j.disabled_at, n.now

-- name: listener_succeeded
UPDATE hanbeon.listener
SET failures = 0, failing_since = NULL, last_success_at = hanbeon.now()
WHERE id = $1

-- name: listeners_of
SELECT l.id, l.office_id, l.kind, l.position, l.url, l.secret, l.events, l.since, l.created_at, l.failures, l.failing_since,
  l.last_error, l.last_failure_at, l.last_success_at, l.disabled_at, o.name AS office_name
FROM hanbeon.listener AS l JOIN hanbeon.office AS o ON o.id = l.office_id
WHERE l.office_id @in($1 @uuid)
ORDER BY l.office_id, l.kind, l.position

-- name: lock_office
SELECT o.id, o.name, o.config, o.sessions, o.version, o.created_at, o.changed_at
FROM hanbeon.office AS o WHERE o.id = $1 @lock

-- name: lock_relay
-- Returns nothing while another transaction relays.
SELECT r.relayed_to FROM hanbeon.relay AS r WHERE r.only_row = 1 @lock_skip

-- name: lock_waiting
-- Still waiting now that they are locked: they may have been cancelled since they were read.
SELECT j.seq, j.lane, j.meta, j.policy, j.timeout_us FROM hanbeon.job AS j
WHERE j.seq @in($1 bigint) AND @hidden(j.state) IN ('pending', 'ready') AND j.dispatched_at IS NULL
ORDER BY j.seq @lock

-- name: office_by_id
SELECT o.id, o.name, o.config, o.sessions, o.version, o.created_at, o.changed_at
FROM hanbeon.office AS o WHERE o.id = $1

-- name: office_page
-- The sizes include those of the listeners, which are shown with their office.
SELECT o.id, octet_length(o.config) + octet_length(o.sessions) + coalesce((
    SELECT sum(octet_length(l.url) + coalesce(octet_length(l.events), 0) + coalesce(octet_length(l.last_error), 0))
    FROM hanbeon.listener AS l WHERE l.office_id = o.id
  ), 0) AS bytes
FROM hanbeon.office AS o
WHERE CAST($1 AS @uuid) IS NULL OR o.id > $1
ORDER BY o.id LIMIT $2

-- name: offices
SELECT o.id, o.name, o.config, o.sessions, o.version, o.created_at, o.changed_at
FROM hanbeon.office AS o
WHERE o.id @in($1 @uuid)
ORDER BY o.id

-- name: put_listeners
-- An existing listener keeps its history; one that is enabled again starts a new one.
INSERT INTO hanbeon.listener (id, office_id, kind, position, url, secret, events, since, created_at)
SELECT r.id, r.office_id, r.kind, r.position, r.url, r.secret, r.events, r.since, hanbeon.now()
FROM @rows($1 AS r; id @uuid, office_id @uuid, kind text, position integer, url text, secret text, events text, since bigint)
WHERE true
ON CONFLICT (id) DO UPDATE SET position = excluded.position, url = excluded.url, secret = excluded.secret, events = excluded.events

-- name: relay_state
-- Whether there are listeners, and whether there are events to relay: the only query of an idle relay.
SELECT r.relayed_to, c.last_id, (SELECT min(l.since) FROM hanbeon.listener AS l) AS since,
  (SELECT min(b.seq) FROM hanbeon.event_batch AS b WHERE b.first_id IS NULL) AS unnumbered
FROM hanbeon.relay AS r CROSS JOIN hanbeon.event_counter AS c
WHERE r.only_row = 1 AND c.only_row = 1

-- name: roles_of_queue
-- Ever seen there: a lane stays as long as jobs may refer to it.
SELECT DISTINCT l.role FROM hanbeon.lane AS l WHERE l.queue_id = $1 AND l.role <> ''

-- name: unfinished_of_queue
-- Unfinished jobs of a queue, optionally without those that have been requested to stop. One branch per state, so that
-- each uses its partial index.
SELECT u.stopping FROM (
  SELECT (j.stop_requested_at IS NOT NULL) AS stopping FROM hanbeon.job AS j
  WHERE j.state = 'running' AND j.lane >= $1 AND j.lane < $2
  UNION ALL
  SELECT false AS stopping FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane >= $1 AND j.lane < $2
  UNION ALL
  SELECT false AS stopping FROM hanbeon.job AS j WHERE j.state = 'pending' AND j.lane >= $1 AND j.lane < $2
) AS u
WHERE NOT ($3 AND u.stopping) LIMIT 1

-- name: waiting_in_lanes
SELECT j.seq FROM hanbeon.job AS j WHERE j.state = 'pending' AND j.lane @in($1 bigint)
UNION ALL
SELECT j.seq FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane @in($1 bigint)
ORDER BY seq
