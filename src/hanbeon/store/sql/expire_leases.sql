UPDATE hanbeon.job SET locked_until = hanbeon.now() WHERE state = 'running' RETURNING seq
