-- Which of these jobs an unfinished one depends on.
SELECT DISTINCT e.dependency AS seq FROM hanbeon.edge AS e JOIN hanbeon.job AS d ON d.seq = e.dependent
WHERE e.dependency @in($1 bigint) AND @hidden(d.state) IN (@unfinished_states)
