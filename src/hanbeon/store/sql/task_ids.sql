SELECT t.id, t.name, t.settings FROM hanbeon.task AS t WHERE t.name @in($1 text) ORDER BY t.id
