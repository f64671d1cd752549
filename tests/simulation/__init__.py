"""Simulated runs of a workload of everything that the contract has."""
