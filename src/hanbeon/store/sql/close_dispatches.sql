-- Those of which an attempt is over, or asked to stop.
UPDATE hanbeon.dispatch AS d SET close_at = hanbeon.now(), stop = $2
WHERE d.job @in($1 bigint) AND d.close_at IS NULL
