-- The sizes include those of the listeners, which are shown with their office.
SELECT o.id, octet_length(o.config) + octet_length(o.sessions) + coalesce((
    SELECT sum(octet_length(l.url) + coalesce(octet_length(l.events), 0) + coalesce(octet_length(l.last_error), 0))
    FROM hanbeon.listener AS l WHERE l.office_id = o.id
  ), 0) AS bytes
FROM hanbeon.office AS o
WHERE CAST($1 AS @uuid) IS NULL OR o.id > $1
ORDER BY o.id LIMIT $2
