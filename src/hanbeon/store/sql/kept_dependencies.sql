-- For a long transaction: a lock that only keeps the dependency from being pruned. It may finish at any moment, and its
-- completion does not see our edges; so dependents of unfinished jobs are recounted after the commit.
SELECT j.seq, j.id, j.state, j.lane
FROM hanbeon.job AS j
WHERE @id_in(j; $1)
ORDER BY j.seq
@keep
