-- PostgreSQL only, where COPY returns no rows: the numbers of the jobs to copy, in order, and their creation time.
SELECT hanbeon.now() AS now, ARRAY(SELECT nextval('hanbeon.job_seq_seq') FROM generate_series(1, $1::integer)) AS seqs
