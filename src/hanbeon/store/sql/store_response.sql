-- Only the first: a request that was taken over may be answered twice.
UPDATE hanbeon.answer SET status = $4, headers = $5, body = $6
WHERE user_name = $1 AND key = $2 AND digest = $3 AND status IS NULL
RETURNING key
