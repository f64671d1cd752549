INSERT INTO hanbeon.office (id, name, config, sessions, created_at, changed_at)
VALUES ($1, $2, $3, $4, hanbeon.now(), hanbeon.now())
ON CONFLICT DO NOTHING
RETURNING id
