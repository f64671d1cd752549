-- The single source of time on PostgreSQL: the server's clock, read when called, not when the transaction began.
CREATE FUNCTION hanbeon.now() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
AS 'SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint';
