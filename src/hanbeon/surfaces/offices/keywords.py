"""Requests of this surface as keywords, for static types. Generated from `schemas.py` by `make docs`."""

from __future__ import annotations
