-- All batches that the tallies do not include yet: numbered but unfolded, and unnumbered.
SELECT b.at, b.delta FROM hanbeon.event_batch AS b
WHERE b.first_id > (SELECT f.folded_to FROM hanbeon.fold AS f WHERE f.only_row = 1) AND b.delta IS NOT NULL
UNION ALL
SELECT b.at, b.delta FROM hanbeon.event_batch AS b
WHERE b.first_id IS NULL AND b.delta IS NOT NULL
