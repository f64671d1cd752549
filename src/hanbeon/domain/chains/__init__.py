"""Chains: jobs with a forward and a backward operation each, walked one after the other."""
