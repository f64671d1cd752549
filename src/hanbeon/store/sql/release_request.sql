UPDATE hanbeon.answer SET holder = NULL
WHERE user_name = $1 AND key = $2 AND digest = $3 AND holder = $4 AND status IS NULL
