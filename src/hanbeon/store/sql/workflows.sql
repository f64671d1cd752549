SELECT @workflow_columns FROM hanbeon.workflow AS w
WHERE w.seq > $1 AND w.deleted_at IS NULL AND w.status = coalesce($3, w.status)
ORDER BY w.seq LIMIT $2
