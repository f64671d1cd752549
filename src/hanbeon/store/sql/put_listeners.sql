-- An existing listener keeps its history; one that is enabled again starts a new one.
INSERT INTO hanbeon.listener (id, office_id, kind, place, url, secret, events, since, created_at)
SELECT r.id, r.office_id, r.kind, r.place, r.url, r.secret, r.events, r.since, hanbeon.now()
FROM @rows($1 AS r; id @uuid, office_id @uuid, kind text, place integer, url text, secret text, events text, since bigint)
WHERE true
ON CONFLICT (id) DO UPDATE SET place = excluded.place, url = excluded.url, secret = excluded.secret, events = excluded.events
