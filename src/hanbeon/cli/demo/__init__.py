"""The demo: a small office of agents that releases something over and over, to be looked at."""
