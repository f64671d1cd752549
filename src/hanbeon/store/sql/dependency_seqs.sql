SELECT e.dependency AS seq FROM hanbeon.edge AS e WHERE e.dependent = $1 ORDER BY e.dependency LIMIT $2
