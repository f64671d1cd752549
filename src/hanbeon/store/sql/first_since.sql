SELECT min(l.since) AS since FROM hanbeon.listener AS l
