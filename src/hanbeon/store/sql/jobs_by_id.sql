SELECT * FROM hanbeon.jobs WHERE id @in($1 @uuid) ORDER BY seq
