-- PostgreSQL only, where jobs that come by COPY have no answer: their numbers, in order, and the instant of their making.
SELECT hanbeon.now() AS now, ARRAY(SELECT nextval('hanbeon.job_seq_seq') FROM generate_series(1, $1::integer)) AS seqs
