INSERT INTO hanbeon.unwanted_file (root, path, kept, due_at)
SELECT r.root, r.path, r.kept, n.now + r.delay_us
FROM @rows($1 AS r; root text, path text, kept text, delay_us bigint) CROSS JOIN (SELECT hanbeon.now() AS now) AS n
WHERE true
RETURNING id
