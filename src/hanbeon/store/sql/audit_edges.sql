SELECT e.dependent, e.dependency, d.id, d.state, d.finished_at
FROM hanbeon.edge AS e LEFT JOIN hanbeon.job AS d ON d.seq = e.dependency
WHERE e.dependent > $1 AND e.dependent <= $2
ORDER BY e.dependent, e.dependency
