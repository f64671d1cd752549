-- The fires that prune_fires would find if it were repeated until nothing is left.
SELECT count(*) AS rows FROM hanbeon.fire AS f WHERE @prunable_fire
