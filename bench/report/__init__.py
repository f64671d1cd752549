"""The report: tables and aims, on the terminal and in `docs/benchmarks.md`."""
