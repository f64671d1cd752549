-- In a fixed order: otherwise two completions that share dependents deadlock.
SELECT j.seq FROM hanbeon.job AS j
WHERE j.seq IN (SELECT e.dependent FROM hanbeon.edge AS e WHERE e.dependency @in($1 bigint))
ORDER BY j.seq @lock
