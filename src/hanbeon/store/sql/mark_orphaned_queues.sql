-- Marks queues whose owner is deleted, or unmarks them when it is created again.
UPDATE hanbeon.queue SET left_at = CASE WHEN CAST($2 AS boolean) THEN hanbeon.now() END WHERE name @in($1 text)
