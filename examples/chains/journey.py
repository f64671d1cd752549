"""Booking a journey: a flight, a hotel and a car. If one cannot be booked, those before it are cancelled.

Each operation is called as `operation(arguments, context)`. What a booking returns is kept with its job; what its
cancellation needs, it writes into the context.
"""

from __future__ import annotations

from typing import Any

import hanbeon


def book(arguments: dict[str, Any], context: dict[str, Any]) -> dict[str, str]:
    """Book one thing; fails if the arguments say that it is sold out."""
    what = arguments["what"]
    if arguments.get("sold_out"):
        raise RuntimeError(f"no {what} is left")
    # A real service takes the key, and books once however often it is asked.
    number = f"{what}-{hanbeon.current().idempotency_key[:8]}"
    context.setdefault("bookings", {})[what] = number
    hanbeon.current().log(f"booked {number}")
    return {"booking": number}


async def cancel(arguments: dict[str, Any], context: dict[str, Any]) -> str:
    """Cancel what was booked; nothing, if the booking itself failed."""
    number = context.get("bookings", {}).pop(arguments["what"], None)
    return "nothing to cancel" if number is None else f"cancelled {number}"
