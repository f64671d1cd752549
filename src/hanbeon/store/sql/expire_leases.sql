-- Whether a body has begun is no longer known: it may have after the backup was taken.
UPDATE hanbeon.job SET locked_until = hanbeon.now(), unbegun_fence = NULL WHERE state = 'running' RETURNING seq
