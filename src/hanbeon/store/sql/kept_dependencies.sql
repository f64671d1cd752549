-- In a transaction that lasts: a lock that keeps the dependency from being pruned and nothing else. It may finish at any
-- moment, and whoever completes it does not see our edges; so what is unfinished here is counted again after the commit.
SELECT j.seq, j.id, j.state, j.lane
FROM hanbeon.job AS j
WHERE j.id @in($1 @uuid)
ORDER BY j.seq
@keep
