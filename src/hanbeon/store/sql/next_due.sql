SELECT min(j.run_at) - hanbeon.now() AS wait_us FROM hanbeon.job AS j WHERE j.state = 'pending' AND j.unmet = 0
