"""Hanbeon: a plain function in two warm worker processes that can be killed."""

from __future__ import annotations

from bench.adapters.adapter import url
from bench.adapters.marks import mark
from bench.adapters.ours import adapter
from hanbeon import App

app = App(url(), processes=2)


@app.task(executor="process")
def noop(x: int) -> None:
    mark(x)


ADAPTER = adapter(app, noop)
