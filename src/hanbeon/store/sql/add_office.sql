INSERT INTO hanbeon.office (id, name, config, sessions, notifications, webhooks, created_at, changed_at)
VALUES ($1, $2, $3, $4, $5, $6, hanbeon.now(), hanbeon.now())
