-- The dependencies of a job, share-locked: none can finish or be pruned before our commit.
SELECT j.seq, j.state FROM hanbeon.job AS j
WHERE j.seq IN (SELECT e.dependency FROM hanbeon.edge AS e WHERE e.dependent = $1)
ORDER BY j.seq
@share
