-- One row for each request, however many transactions it takes: a later one adds to its count.
INSERT INTO hanbeon.action AS a (id, at, user_name, via, action, target, count)
VALUES ($1, hanbeon.now(), $2, $3, $4, $5, $6)
ON CONFLICT (id) DO UPDATE SET count = a.count + excluded.count
