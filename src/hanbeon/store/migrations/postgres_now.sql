-- The one seam for time on PostgreSQL: the server's own clock, read when asked, not when the transaction began.
CREATE FUNCTION hanbeon.now() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
AS 'SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint';
