-- Changes nothing, and is written all the same.
UPDATE hanbeon.pruned SET before = before WHERE only_row = 1
