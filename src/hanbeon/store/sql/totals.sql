SELECT t.name, CAST(sum(t.value) AS bigint) AS value FROM hanbeon.total AS t GROUP BY t.name ORDER BY t.name
