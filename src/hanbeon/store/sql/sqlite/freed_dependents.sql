-- SQLite only, as `dependents_met`: the dependents that were freed, with the states that they have now.
SELECT json_group_array(json_array(j.seq, j.id, j.lane, j.state)) AS freed FROM hanbeon.job AS j
WHERE j.seq @in($1 bigint)
