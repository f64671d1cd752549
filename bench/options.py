"""Parses the command line; an unknown name is refused with the list of known ones."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.table import SUBJECTS

SHORT_PEERS = ("pgqueuer-100", "huey-sqlite")
_QUIET_WAIT, _SHORT_QUIET_WAIT = 20.0, 2.0
_MINUTES = 20.0
_EPILOG = """examples:
  make bench                                       everything, three repetitions
  make bench ARGS=--short                          about two minutes, for a pull request
  make bench ARGS="--only drain --peers pgqueuer-100,dramatiq"
  make soak ARGS="--minutes 1"                     a steady load for a minute
  make bench ARGS="--from latest --write"          write docs/benchmarks.md from the newest stored run
"""


@dataclass(frozen=True, kw_only=True)
class Options:
    """The scenarios and peers to measure, the number of repetitions, and the output."""

    scenarios: tuple[str, ...]
    peers: tuple[str, ...]
    reps: int
    jobs: int | None
    short: bool
    minutes: float
    quiet_wait: float
    write: bool
    stored: tuple[Path, ...]

    def scaled(self, number: int) -> int:
        """Return a count that `--jobs` does not set; smaller in a short run."""
        return max(1, number // 4) if self.short else number

    def in_proportion(self, number: int, jobs: int) -> int:
        """Return a count that goes with a drain of `jobs`, reduced in the same proportion as `--jobs` reduces that."""
        return self.scaled(number) if self.jobs is None else max(1, min(number, number * self.jobs // jobs))

    def drained(self, number: int) -> int:
        return self.jobs if self.jobs is not None else self.scaled(number)


def parse(arguments: Sequence[str], scenarios: Sequence[str], default: Sequence[str]) -> Options:
    """Parse the arguments; end the program with a message if they are invalid."""
    peers = [subject.name for subject in SUBJECTS.values() if not subject.is_ours]
    parser = _parser(scenarios, peers)
    given = parser.parse_args(arguments)
    try:
        return Options(
            scenarios=_known("scenario", given.only, scenarios, default),
            peers=_known("peer", given.peers, peers, SHORT_PEERS if given.short else peers),
            reps=given.reps if given.reps is not None else (1 if given.short else 3),
            jobs=given.jobs,
            short=given.short,
            minutes=given.minutes,
            quiet_wait=(_SHORT_QUIET_WAIT if given.short else _QUIET_WAIT)
            if given.quiet_wait is None
            else given.quiet_wait,
            write=given.write,
            stored=_stored(given.stored),
        )
    except LookupError as error:
        parser.error(str(error))


def _parser(scenarios: Sequence[str], peers: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure Hanbeon beside its peers and beside hand-written SQL, on servers of its own. "
        "Results go to .bench/results/, tables to the terminal.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--short", action="store_true", help=f"few jobs, one repetition, only {', '.join(SHORT_PEERS)}")
    parser.add_argument("--only", metavar="NAMES", help=f"scenarios, of: {', '.join(scenarios)}")
    parser.add_argument("--peers", metavar="NAMES", help=f"peers, or none, of: {', '.join(peers)}")
    parser.add_argument("--reps", type=_positive, metavar="N", help="repetitions, in turns (3; short: 1)")
    parser.add_argument("--jobs", type=_positive, metavar="N", help="jobs of a drain (default: a few seconds' worth)")
    parser.add_argument(
        "--minutes", type=_minutes, default=_MINUTES, metavar="M", help=f"length of a soak ({_MINUTES:g})"
    )
    parser.add_argument(
        "--quiet-wait",
        type=float,
        metavar="S",
        help=f"seconds to wait for an idle machine before each measurement ({_QUIET_WAIT:g}; "
        f"short: {_SHORT_QUIET_WAIT:g})",
    )
    parser.add_argument("--write", action="store_true", help="write the tables into docs/benchmarks.md")
    parser.add_argument(
        "--from",
        dest="stored",
        nargs="+",
        default=[],
        metavar="FILE",
        help="show stored results instead of measuring (several are merged; `latest` is the newest)",
    )
    return parser


def _known(kind: str, given: str | None, names: Sequence[str], default: Iterable[str]) -> tuple[str, ...]:
    if given is None:
        return tuple(default)
    if given == "none":
        return ()
    chosen = tuple(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))
    for name in chosen:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise LookupError(f"unknown {kind} {name!r}.{hint} Use one of: {', '.join(names)}")
    if not chosen:
        raise LookupError(f"must name at least one {kind}, of: {', '.join(names)}")
    return chosen


def _stored(given: Sequence[str]) -> tuple[Path, ...]:
    from bench.records import latest

    paths: list[Path] = []
    for name in given:
        found = latest() if name == "latest" else [Path(name)]
        if not found or not found[0].is_file():
            raise LookupError(f"there is no stored run {name!r}; run `make bench` first")
        paths += found
    return tuple(paths)


def _minutes(text: str) -> float:
    number = float(text)
    if not 0 < number < 100_000:
        raise argparse.ArgumentTypeError(f"must be a number of minutes above 0, got {text}")
    return number


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be an integer of at least 1, got {text}")
    return number
