-- What prunable_jobs, prune_events and prune_instances would find, were they asked until nothing is left.
SELECT
  (
    SELECT count(*) FROM hanbeon.job AS j
    WHERE j.finished_at IS NOT NULL AND j.finished_at < (SELECT hanbeon.now()) - $1
      AND (
        SELECT 1 FROM hanbeon.edge AS e
        WHERE e.dependency = j.seq
          AND (SELECT d.state FROM hanbeon.job AS d WHERE d.seq = e.dependent) IN (@unfinished_states)
        LIMIT 1
      ) IS NULL
  ) AS jobs,
  (SELECT coalesce(sum(b.count), 0) FROM hanbeon.event_batch AS b WHERE b.at < (SELECT hanbeon.now()) - $1) AS events,
  (SELECT count(*) FROM hanbeon.instance AS i WHERE i.seen_at < (SELECT hanbeon.now()) - $1) AS instances
