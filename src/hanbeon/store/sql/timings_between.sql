SELECT t.queue_id, t.slot, t.flow FROM hanbeon.timing AS t WHERE t.slot >= $1 AND t.slot < $2
