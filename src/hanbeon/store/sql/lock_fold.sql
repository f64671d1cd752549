-- Nothing is found while another folds, or if one has folded only just now: however many instances there are, together
-- they fold no oftener than one.
SELECT f.folded_to FROM hanbeon.fold AS f
WHERE f.only_row = 1 AND f.folded_at <= (SELECT hanbeon.now()) - $1
@lock_skip
