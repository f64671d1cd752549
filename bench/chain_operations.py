"""The library of the chains that are measured."""

from __future__ import annotations

from typing import Any


def book(arguments: Any, context: dict[str, Any]) -> int:
    context["booked"] = context.get("booked", 0) + 1
    return int(arguments["n"])


def refuse(arguments: Any, context: dict[str, Any]) -> None:
    raise ValueError("sold out")


def cancel(arguments: Any, context: dict[str, Any]) -> None:
    context["booked"] -= 1
