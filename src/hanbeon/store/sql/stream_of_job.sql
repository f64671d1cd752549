SELECT d.stream, (d.epoch IS NOT NULL) AS sent, s.workers, s.failing_since, s.error, hanbeon.now() AS now
FROM hanbeon.dispatch AS d LEFT JOIN hanbeon.stream AS s ON s.name = d.stream
WHERE d.job = $1 ORDER BY d.fence DESC LIMIT 1
