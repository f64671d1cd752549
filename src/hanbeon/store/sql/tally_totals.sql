SELECT t.state, CAST(sum(t.jobs) AS bigint) AS jobs, CAST(sum(t.ran_us) AS bigint) AS ran_us
FROM hanbeon.tally AS t GROUP BY t.state
