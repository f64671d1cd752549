SELECT version, runs_from FROM hanbeon.schema_version ORDER BY version DESC LIMIT 1
