-- The running jobs of an instance, whether or not their leases have expired. Reads all that run: after a lost answer only.
SELECT j.seq, j.fence, j.lane FROM hanbeon.job AS j WHERE j.state = 'running' AND j.instance = $1
