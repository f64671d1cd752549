-- SQLite has one writer at a time: nothing else is under way.
SELECT id FROM hanbeon.incarnation WHERE only_row = 1
