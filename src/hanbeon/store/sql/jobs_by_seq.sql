SELECT * FROM hanbeon.jobs WHERE seq @in($1 bigint) ORDER BY seq
