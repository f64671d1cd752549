SELECT l.id, l.office_id, l.kind, l.place, l.url, l.secret, l.events, l.since, l.created_at, l.failures, l.failing_since,
  l.last_error, l.last_failure_at, l.last_success_at, l.disabled_at, o.name AS office_name
FROM hanbeon.listener AS l JOIN hanbeon.office AS o ON o.id = l.office_id
WHERE l.id = $1
