-- They are left behind, or taken up again.
UPDATE hanbeon.queue SET left_at = CASE WHEN CAST($2 AS boolean) THEN hanbeon.now() END WHERE name @in($1 text)
