UPDATE hanbeon.replay_usage AS u SET bytes = u.bytes - r.bytes
FROM @rows($1 AS r; owner text, bytes bigint)
WHERE u.owner = r.owner
