SELECT @workflow_columns FROM hanbeon.workflow AS w WHERE w.id @in($1 @uuid)
