DELETE FROM hanbeon.answer WHERE created_at < hanbeon.now() - $1
