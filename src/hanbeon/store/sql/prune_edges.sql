DELETE FROM hanbeon.edge WHERE dependency @in($1 bigint) OR dependent @in($1 bigint)
