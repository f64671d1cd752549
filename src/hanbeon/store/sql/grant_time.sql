-- For a write that keeps all others waiting: leases that would run out meanwhile are extended first.
UPDATE hanbeon.job SET locked_until = hanbeon.now() + $1
WHERE state = 'running' AND locked_until > hanbeon.now() AND locked_until < hanbeon.now() + $1
RETURNING seq
