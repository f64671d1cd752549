-- SQLite only: how many rows the statement before has changed.
SELECT changes() AS count
