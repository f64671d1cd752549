-- Returns nothing while another transaction prunes: it is looking at the clock, too.
SELECT c.trusted_at, c.steady_since, c.seen_at, hanbeon.now() AS now FROM hanbeon.clock AS c WHERE c.only_row = 1
@lock_skip
