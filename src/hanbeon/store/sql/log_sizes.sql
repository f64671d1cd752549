SELECT l.job, count(*) AS chunks FROM hanbeon.log AS l WHERE l.job @in($1 bigint) GROUP BY l.job
