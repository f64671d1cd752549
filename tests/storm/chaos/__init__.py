"""A run of faults, one phase after the other, against real servers and instances under a load of every kind."""
