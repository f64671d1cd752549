SELECT @workflow_columns FROM hanbeon.workflow AS w WHERE w.declared_name = $1
