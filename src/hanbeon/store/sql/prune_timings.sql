-- The oldest of those past their retention, an hour's worth at a time.
DELETE FROM hanbeon.timing
WHERE slot < (SELECT hanbeon.now()) - $1
  AND slot < (SELECT min(t.slot) FROM hanbeon.timing AS t WHERE t.slot < (SELECT hanbeon.now()) - $1) + $2
RETURNING slot
