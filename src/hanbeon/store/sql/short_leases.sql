SELECT 1 FROM hanbeon.job WHERE state = 'running' AND locked_until > hanbeon.now() AND locked_until < hanbeon.now() + $1
LIMIT 1
