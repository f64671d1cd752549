SELECT t.id FROM hanbeon.token AS t WHERE t.request = $1
