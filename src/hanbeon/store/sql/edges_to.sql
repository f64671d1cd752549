SELECT e.dependency, e.dependent FROM hanbeon.edge AS e WHERE e.dependent @in($1 bigint)
