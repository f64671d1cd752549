"""Chains: jobs with a forward and a backward operation each; a failure undoes what was done, in reverse."""
