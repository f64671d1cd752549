-- One unfinished execution of each task that has any; found by the index of unique keys.
SELECT u.id, u.execution
FROM (
  SELECT r.id, (
    SELECT CAST(j.id AS text) FROM hanbeon.job AS j
    WHERE j.unique_key >= r.low AND j.unique_key < r.high AND j.state IN (@unfinished_states) LIMIT 1
  ) AS execution
  FROM @rows($1 AS r; id bigint, low text, high text)
) AS u
WHERE u.execution IS NOT NULL
