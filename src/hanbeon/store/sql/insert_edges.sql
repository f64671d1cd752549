INSERT INTO hanbeon.edge (dependency, dependent)
SELECT r.dependency, r.dependent FROM @rows($1 AS r; dependency bigint, dependent bigint)
