-- A page of queues by name: their ids, and the sizes of what is shown of each.
SELECT q.id, octet_length(q.limits) + coalesce(octet_length(q.declared), 0) AS bytes
FROM hanbeon.queue AS q WHERE q.name > $1 ORDER BY q.name LIMIT $2
