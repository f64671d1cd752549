-- name: keep_reminder_text
INSERT INTO hanbeon.reminder_text (text) VALUES ($1) RETURNING id

-- name: reminder_texts
SELECT t.id, t.text FROM hanbeon.reminder_text AS t ORDER BY t.id LIMIT 1000
