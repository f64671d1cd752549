-- All batches that the tallies do not include yet: numbered but unfolded, and unnumbered.
SELECT b.seq, b.at, b.delta FROM hanbeon.event_batch AS b
WHERE b.first_id > (SELECT f.folded_to FROM hanbeon.fold AS f WHERE f.only_row = 1)
UNION ALL
SELECT b.seq, b.at, b.delta FROM hanbeon.event_batch AS b
WHERE b.first_id IS NULL
