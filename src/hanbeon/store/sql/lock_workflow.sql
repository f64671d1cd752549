SELECT @workflow_columns FROM hanbeon.workflow AS w WHERE w.id = $1 @lock
