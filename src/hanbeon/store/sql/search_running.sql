-- All running jobs of a range of lanes: never many, since each holds a slot.
SELECT j.seq, j.lane FROM hanbeon.job AS j WHERE j.state = 'running' AND j.lane >= $1 AND j.lane < $2
