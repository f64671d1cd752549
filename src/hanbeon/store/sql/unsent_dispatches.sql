SELECT d.n, d.stream, d.wire_id, d.fence, d.body FROM hanbeon.dispatch AS d
WHERE d.epoch IS NULL AND d.close_at IS NULL
ORDER BY d.n LIMIT $1
