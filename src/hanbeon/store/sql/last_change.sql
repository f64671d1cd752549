-- Differs after every commit with events: its batch is the last unnumbered one, or has been numbered. One that was
-- overtaken by another is noticed when it is numbered.
SELECT (SELECT max(b.seq) FROM hanbeon.event_batch AS b WHERE b.first_id IS NULL) AS last_batch, c.last_id
FROM hanbeon.event_counter AS c WHERE c.only_row = 1
