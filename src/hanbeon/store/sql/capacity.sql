-- The workers that are alive, and how much they can run at once.
SELECT count(*) AS workers, coalesce(CAST(sum(i.capacity) AS bigint), 0) AS slots FROM hanbeon.instance AS i
WHERE i.stopped_at IS NULL AND i.seen_at > hanbeon.now() - $1
