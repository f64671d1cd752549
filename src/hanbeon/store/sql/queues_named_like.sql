-- A page of the queues whose name holds a text, by name: their ids, and the sizes of what is shown of each. Names are
-- looked for in their index alone; the rows of those that are found follow.
SELECT q.id, octet_length(q.limits) + coalesce(octet_length(q.declared), 0) AS bytes
FROM hanbeon.queue AS q WHERE q.name IN (
  SELECT n.name FROM hanbeon.queue AS n WHERE n.name > $1 AND @contains(n.name; $2) ORDER BY n.name LIMIT $3
) ORDER BY q.name
