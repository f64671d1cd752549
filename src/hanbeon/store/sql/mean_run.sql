SELECT avg(j.finished_at - j.started_at) AS mean FROM hanbeon.job AS j WHERE j.seq @in($1 bigint)
