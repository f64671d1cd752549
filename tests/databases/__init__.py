"""Real servers for the tests: found on this machine, started once per run, gone afterwards."""
