"""Sources of the commands of operators: a database, or a server in front of one."""
