"""The command line of the benchmarks."""

import pytest

from bench.options import SHORT_PEERS, Options, parse
from bench.scenarios import SCENARIOS
from bench.table import SUBJECTS

_PEERS = [subject.name for subject in SUBJECTS.values() if not subject.is_ours]


def parsed(*arguments: str) -> Options:
    return parse(arguments, list(SCENARIOS), ["drain"])


def test_by_default_every_peer_three_times() -> None:
    options = parsed()
    assert options.scenarios == ("drain",)
    assert options.peers == tuple(_PEERS)
    assert (options.reps, options.jobs, options.short, options.write, options.stored) == (3, None, False, False, ())


def test_a_short_run_is_once_over_few_peers_and_fewer_jobs() -> None:
    options = parsed("--short")
    assert options.peers == SHORT_PEERS
    assert options.reps == 1
    assert options.drained(40_000) == 10_000


def test_explicit_options_override_short() -> None:
    options = parsed("--short", "--reps", "2", "--peers", "rq", "--only", "floor,latency", "--jobs", "50")
    assert (options.reps, options.peers, options.scenarios) == (2, ("rq",), ("floor", "latency"))
    assert options.drained(40_000) == 50


@pytest.mark.parametrize(("arguments", "minutes"), [([], 20), (["--minutes", "1"], 1), (["--minutes", "0.5"], 0.5)])
def test_minutes_sets_the_length_of_a_soak(arguments: list[str], minutes: float) -> None:
    assert parsed(*arguments).minutes == minutes


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [([], 1000), (["--short"], 250), (["--jobs", "10"], 100), (["--jobs", "1"], 10), (["--jobs", "5000"], 1000)],
)
def test_counts_shrink_in_proportion_to_a_drain(arguments: list[str], expected: int) -> None:
    assert parsed(*arguments).in_proportion(1000, 100) == expected


def test_no_peer_at_all() -> None:
    assert parsed("--peers", "none").peers == ()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--peers", "pgqueuer-10,dramatic"], ["unknown peer 'dramatic'", "Did you mean dramatiq?", "huey-redis"]),
        (["--only", "drian"], ["unknown scenario 'drian'", "Did you mean drain?", "latency"]),
        (["--only", ","], ["must name at least one scenario"]),
        (["--reps", "0"], ["must be an integer of at least 1"]),
        (["--minutes", "0"], ["minutes above 0"]),
        (["--minutes", "nan"], ["minutes above 0"]),
        (["--minutes", "soon"], ["--minutes"]),
        (["--from", "nowhere.json"], ["no stored run 'nowhere.json'"]),
    ],
)
def test_invalid_options_are_refused_with_the_valid_ones(
    arguments: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parsed(*arguments)
    assert ended.value.code == 2
    output = capsys.readouterr().err
    assert all(word in output for word in words), output


def test_help_names_every_scenario_and_peer(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed("--help")
    output = capsys.readouterr().out
    assert all(name in output for name in (*SCENARIOS, *_PEERS))
