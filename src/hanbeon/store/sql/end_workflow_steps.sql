UPDATE hanbeon.workflow_step AS s SET status = 'cancelled', ended_at = hanbeon.now()
WHERE s.run_id @in($1 @uuid) AND s.ended_at IS NULL
