-- Not if its seed is of an earlier try, which may have had its effect.
DELETE FROM hanbeon.answer
WHERE user_name = $1 AND key = $2 AND digest = $3 AND seed = $4 AND holder = $5 AND status IS NULL
RETURNING key
