"""Benchmarks: Hanbeon beside its peers and beside what hand-written SQL reaches. `python -m bench --help`"""
