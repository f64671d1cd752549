DELETE FROM hanbeon.answer WHERE user_name = $1 AND key = $2 AND digest = $3 AND status IS NULL
