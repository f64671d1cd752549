-- All batches that the tallies do not include yet: numbered but unfolded, and unnumbered.
SELECT b.at, b.delta, CASE WHEN b.delta IS NULL THEN b.body END AS body FROM hanbeon.event_batch AS b
WHERE b.first_id > (SELECT f.folded_to FROM hanbeon.fold AS f WHERE f.only_row = 1)
UNION ALL
SELECT b.at, b.delta, CASE WHEN b.delta IS NULL THEN b.body END AS body FROM hanbeon.event_batch AS b
WHERE b.first_id IS NULL
