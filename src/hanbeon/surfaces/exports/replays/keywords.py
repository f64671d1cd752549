"""Requests of this surface as keywords, for static types. Generated from `schemas.py` by `make docs`."""

from __future__ import annotations

from typing import TypedDict


class ReplayQueryFields(TypedDict, total=False):
    """`page` from 0, of `size` rows."""

    page: int
    size: int
