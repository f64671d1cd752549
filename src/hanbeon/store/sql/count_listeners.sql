SELECT l.kind, l.disabled_at IS NOT NULL AS disabled, count(*) AS number FROM hanbeon.listener AS l GROUP BY 1, 2
