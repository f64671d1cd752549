"""Real database servers for the tests: found on this machine, started once per run, removed afterwards."""
