"""Offices: events that become messages to webhooks."""

from __future__ import annotations

from hanbeon.testing.simulation import Moment, Operation
from tests.simulation.directed.case import Case, kill, mutant, on_both

_TWO_WEBHOOKS = 3
"""An office that is drawn with this seed has two webhooks."""
_RELAY = "surfaces/offices/delivery/relay.py"
_WEBHOOK = "surfaces/offices/delivery/webhook.py"


CASES = (
    Case(
        "Jobs of an office end, their webhooks refuse some messages, and processes are killed",
        [
            Operation(0.4, "office", {"rng": _TWO_WEBHOOKS}),
            *(Operation(0.8 + 0.7 * number, "office_jobs", {"rng": number}) for number in range(10)),
        ],
        [
            mutant(
                "events are passed without their messages",
                (_RELAY, "    jobs = await make(tx, events, listeners) if listeners else []\n", "    jobs = []\n"),
            ),
            mutant(
                "the relay leaves out the last event of each batch",
                (_RELAY, "    events = found[:at_once]\n", "    events = found[:at_once]\n    found = events[:-1]\n"),
                (_RELAY, "await make(tx, events, listeners)", "await make(tx, found, listeners)"),
            ),
            mutant(
                "a message that was refused counts as delivered",
                (_WEBHOOK, "            if 200 <= answer.status < 300:\n", "            if answer.status:\n"),
            ),
        ],
        [*on_both(kill(2.0, 0, Moment.BEFORE_COMMIT, skip=3)), *on_both(kill(5.0, 0, Moment.AFTER_COMMIT, skip=2))],
    ),
)
