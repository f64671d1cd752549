SELECT t.queue_id, t.flow FROM hanbeon.timing AS t WHERE t.slot >= $1
