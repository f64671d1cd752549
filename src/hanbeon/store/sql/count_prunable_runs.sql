SELECT count(*) AS rows FROM hanbeon.chain_run AS r WHERE @prunable_run
