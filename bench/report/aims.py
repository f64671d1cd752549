"""The aims as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence

from bench.scenario import Aim

HEAD = ("aim", "wanted", "measured", "")


def rows(aims: Sequence[Aim]) -> list[list[str]]:
    """Return a row for each aim that was measured."""
    return [
        [aim.what, _wanted(aim), f"{aim.value:.2f}{aim.unit}", _verdict(aim)] for aim in aims if aim.value is not None
    ]


def _wanted(aim: Aim) -> str:
    parts = []
    if aim.least is not None:
        parts.append(f"≥ {aim.least:g}{aim.unit}")
    if aim.most is not None:
        parts.append(f"≤ {aim.most:g}{aim.unit}")
    if aim.hoped is not None:
        parts.append(f"aim {aim.hoped:g}{aim.unit}")
    if aim.beside:
        parts.append(aim.beside)
    return ", ".join(parts)


def _verdict(aim: Aim) -> str:
    if aim.least is None and aim.most is None:
        return ""
    return "met" if aim.met else "missed"
