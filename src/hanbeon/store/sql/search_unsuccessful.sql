-- Seqs of jobs in the state $1 before $2, newest first, by the index of those that failed or were cancelled.
SELECT j.seq FROM hanbeon.job AS j
WHERE j.state = $1 AND j.state IN ('failed', 'cancelled') AND j.seq < $2
ORDER BY j.seq DESC LIMIT $3
