DELETE FROM hanbeon.timing WHERE queue_id = $1 AND slot = $2
