"""Benchmarks of Hanbeon beside its peers and hand-written SQL. `python -m bench --help`"""
