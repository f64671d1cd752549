SELECT e.dependent, d.id, d.state FROM hanbeon.edge AS e JOIN hanbeon.job AS d ON d.seq = e.dependency
WHERE e.dependent @in($1 bigint)
ORDER BY e.dependent, e.dependency
