-- Own text: as in advance_schedules.
WITH told AS MATERIALIZED (
  SELECT jsonb_object_agg(r.value ->> 'id', r.value) AS by_id FROM jsonb_array_elements($1::text::jsonb) AS r
)
UPDATE hanbeon.schedule AS s
SET last_fire_at = (told.by_id -> s.id::text ->> 'last_fire_at')::bigint, waiting = told.by_id -> s.id::text ->> 'waiting'
FROM told
WHERE s.id @in($2 @uuid)
