-- The single source of time on PostgreSQL: the server's clock, read when called, not when the transaction began.
CREATE FUNCTION hanbeon.now() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE
AS 'SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint';

-- Raises for a transaction of a process that opened the database in an earlier incarnation. Reading the table locks it
-- until the commit, and a restore waits for that. Volatile: after waiting for a restore it sees what that has written.
CREATE FUNCTION hanbeon.check_incarnation(expected text) RETURNS void LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM hanbeon.incarnation AS i WHERE i.id = expected) THEN
    RAISE EXCEPTION 'the database was restored from a backup' USING ERRCODE = 'HB001';
  END IF;
END
$$;

-- True if a job depends on one of these. Volatile: so it sees what was committed after the calling statement began.
CREATE FUNCTION hanbeon.have_dependents(seqs bigint[]) RETURNS boolean LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
  RETURN EXISTS (SELECT FROM hanbeon.edge AS e WHERE e.dependency = ANY(seqs));
END
$$;

-- The ids of jobs, and where a conflict of ids is decided. A table of its own, because each change of a job's state would
-- otherwise write an entry in the index of ids and look for conflicts again: a sixth of the server's work for a job. A row
-- is written and deleted in the transaction that does so with its job, and never changed.
CREATE TABLE hanbeon.job_id (
  id uuid PRIMARY KEY,
  seq bigint NOT NULL
);
