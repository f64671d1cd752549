INSERT INTO hanbeon.dispatch (job, fence, stream, wire_id, body, at)
SELECT r.job, r.fence, r.stream, r.wire_id, r.body, hanbeon.now()
FROM @rows($1 AS r; job bigint, fence bigint, stream text, wire_id text, body text)
