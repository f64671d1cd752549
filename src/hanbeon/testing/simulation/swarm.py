"""Random faults, by swarm testing: each seed draws a few kinds of them, and strikes often with those."""

from __future__ import annotations

import random

from hanbeon.testing.simulation.plan import CLIENT, Fault, FaultKind, Moment, Refusal

_AT_MOMENTS = tuple(moment for moment in Moment if moment is not Moment.SYNC)
_MOMENTS: dict[FaultKind, tuple[Moment, ...]] = {
    FaultKind.KILL: _AT_MOMENTS,
    FaultKind.FREEZE: _AT_MOMENTS,
    FaultKind.POWER: (Moment.NOW, Moment.CALL, Moment.AFTER_COMMIT, Moment.SYNC),
    FaultKind.LOSE: (Moment.STATEMENT, Moment.BEFORE_COMMIT, Moment.AFTER_COMMIT),
}
_NOW = (Moment.NOW,)
_ONCE = (FaultKind.RESTORE, FaultKind.RENEW)
CAUSES = tuple((kind, moment) for kind in FaultKind for moment in _MOMENTS.get(kind, _NOW))
"""Every kind of fault at every moment at which it can strike."""


def random_faults(
    rng: random.Random,
    workers: int,
    until: float,
    lease: float,
    kinds: tuple[FaultKind, ...] = tuple(FaultKind),
) -> tuple[Fault, ...]:
    """Return faults from the first second on, all of a few causes."""
    possible = [cause for cause in CAUSES if cause[0] in kinds]
    share = rng.choice((0.1, 0.3, 0.7))
    causes = [cause for cause in possible if rng.random() < share] or [rng.choice(possible)] if possible else []
    number = round(until * rng.choice((0.5, 1.0, 2.0, 3.0))) if causes else 0
    faults = [_fault(rng, causes, workers, until, lease) for _ in range(number)]
    if rare := [fault for fault in faults if fault.kind in _ONCE]:
        faults = [fault for fault in faults if fault.kind not in _ONCE]
        faults += _restores(rng, until) if rare[0].kind is FaultKind.RESTORE else rare[:1]
    return tuple(sorted(faults, key=lambda each: each.at))


def _restores(rng: random.Random, until: float) -> list[Fault]:
    """Return one at the most: each undoes what the plan has done since its backup."""
    at = rng.uniform(until / 2, until)
    return [Fault(at=round(at, 3), kind=FaultKind.RESTORE, seconds=round(rng.uniform(0.3, at - 0.3), 3))]


def _fault(
    rng: random.Random, causes: list[tuple[FaultKind, Moment]], workers: int, until: float, lease: float
) -> Fault:
    kind, moment = rng.choice(causes)
    return Fault(
        at=round(rng.uniform(0.4, until), 3),
        kind=kind,
        node=rng.randrange(CLIENT, workers),
        moment=moment,
        # There are far fewer ends of bodies than statements.
        skip=rng.choice((0, 0, 1) if moment in (Moment.BODY_END, Moment.RECORD) else (0, 0, 0, 1, 3, 10)),
        seconds=_seconds(rng, kind, lease),
        refusal=rng.choice(list(Refusal)),
        down=rng.choice((0.05, 0.5, 2.0, round(lease * 1.2, 3))),
    )


def _seconds(rng: random.Random, kind: FaultKind, lease: float) -> float:
    """Draw around the length of a lease, on which most depends."""
    seconds = rng.choice((0.3, *(lease * share for share in (0.7, 0.95, 1.05, 1.3, 1.7, 2.5))))
    if kind is FaultKind.STEP:
        seconds *= rng.choice((-20, -1, 1, 20))
    return round(seconds, 3)
