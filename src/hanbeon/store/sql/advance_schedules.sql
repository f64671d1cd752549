-- By position, which many share. Their ids are looked up as an array: joined with a row for each, PostgreSQL's planner
-- reads a table that it thinks is small, or compares every schedule with every one of the rows.
UPDATE hanbeon.schedule AS s
SET considered_to = r.considered_to, next_fire_at = r.next_fire_at, due_at = r.due_at, last_fire_at = r.last_fire_at,
  waiting = r.waiting
FROM @rows($1 AS r; ids text, considered_to bigint, next_fire_at bigint, due_at bigint, last_fire_at bigint, waiting text)
WHERE s.id @in(r.ids @uuid)
