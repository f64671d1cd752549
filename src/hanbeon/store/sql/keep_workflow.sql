-- Locked against changes and the deletion until the commit; transactions that add runs share the lock.
SELECT @workflow_columns FROM hanbeon.workflow AS w WHERE w.id = $1 @share
