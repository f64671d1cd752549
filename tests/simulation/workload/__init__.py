"""The workload: one file a kind of load, all of them listed in `loads.py`."""
