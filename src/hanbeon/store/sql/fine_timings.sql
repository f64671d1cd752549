-- Minutes from $1 until $2 that are not the first of their $3.
SELECT t.queue_id, t.slot, t.flow FROM hanbeon.timing AS t
WHERE t.slot >= $1 AND t.slot < $2 AND t.slot % $3 <> 0
ORDER BY t.slot LIMIT $4
