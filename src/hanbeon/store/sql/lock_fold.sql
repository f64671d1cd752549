-- Returns nothing while another transaction folds, or if the last fold was just now: however many instances there are,
-- together they fold no more often than one.
SELECT f.folded_to FROM hanbeon.fold AS f
WHERE f.only_row = 1 AND f.folded_at <= (SELECT hanbeon.now()) - $1
@lock_skip
