SELECT e.dependent AS seq FROM hanbeon.edge AS e WHERE e.dependency = $1 ORDER BY e.dependent LIMIT $2
