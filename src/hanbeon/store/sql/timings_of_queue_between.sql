SELECT t.queue_id, t.slot, t.flow FROM hanbeon.timing AS t WHERE t.queue_id = $1 AND t.slot >= $2 AND t.slot < $3
