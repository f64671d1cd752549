"""Simulations of job graphs in virtual time."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hanbeon.domain.limits import QueueLimits
from hanbeon.surfaces.offices.simulator import Cause, Simulated, SimulatedJob, simulate, slot_to_add


def job(number: int, run: int, *after: int, role: str = "", due: int = 0, running: bool = False) -> SimulatedJob:
    return SimulatedJob(order=(number,), run_us=run, role=role, due_us=due, depends_on=after, running=running)


def starts(found: Simulated) -> list[int]:
    return [step.start_us for step in found.steps]


def test_no_jobs_take_no_time() -> None:
    found = simulate([], QueueLimits(max_concurrent=1))
    assert (found.makespan_us, found.critical_path()) == (0, [])
    assert slot_to_add([], QueueLimits(max_concurrent=1), found) is None


def test_dependents_start_at_the_end_of_the_last_dependency() -> None:
    found = simulate([job(0, 5), job(1, 7), job(2, 1, 0, 1)], QueueLimits())
    assert starts(found) == [0, 0, 7]
    assert found.critical_path() == [1, 2]
    assert found.steps[2].cause is Cause.DEPENDENCY


def test_limit_of_a_role_lets_others_pass() -> None:
    jobs = [job(0, 5, role="FE"), job(1, 5, role="FE"), job(2, 5, role="BE")]
    limits = QueueLimits(max_concurrent=3, roles={"FE": 1})
    found = simulate(jobs, limits)
    assert starts(found) == [0, 5, 0]
    assert (found.steps[1].cause, found.steps[1].role, found.steps[1].after) == (Cause.SLOT, "FE", 0)
    assert slot_to_add(jobs, limits, found) == ({"FE": 2}, 5)


def test_slot_for_any_role_is_named_if_the_role_has_one() -> None:
    jobs = [job(0, 5, role="FE"), job(1, 5, role="BE")]
    limits = QueueLimits(max_concurrent=1, roles={"FE": 1, "BE": 1})
    found = simulate(jobs, limits)
    assert (found.steps[1].cause, found.steps[1].role) == (Cause.SLOT, "")
    assert slot_to_add(jobs, limits, found) == ({"": 2}, 5)


def test_slot_of_a_role_may_need_one_for_all() -> None:
    jobs = [job(n, 5, role=role) for n, role in enumerate(["FE", "FE", "BE", "BE"])]
    limits = QueueLimits(max_concurrent=2, roles={"FE": 1, "BE": 1})
    assert slot_to_add(
        [*jobs, job(4, 1, 1, role="FE")], limits, simulate([*jobs, job(4, 1, 1, role="FE")], limits)
    ) == (
        {"": 3, "FE": 2},
        10,
    )


def test_no_slot_is_worth_adding_on_a_chain() -> None:
    jobs = [job(0, 5), job(1, 5, 0), job(2, 5, 1)]
    limits = QueueLimits(max_concurrent=1)
    assert slot_to_add(jobs, limits, simulate(jobs, limits)) is None


def test_job_waits_for_its_time() -> None:
    found = simulate([job(0, 2, due=10), job(1, 3)], QueueLimits(max_concurrent=1))
    assert starts(found) == [10, 0]
    assert found.steps[0].cause is Cause.TIME


def test_running_jobs_hold_their_slots_even_beyond_the_limit() -> None:
    jobs = [job(0, 4), job(1, 6, running=True), job(2, 8, running=True)]
    assert starts(simulate(jobs, QueueLimits(max_concurrent=1))) == [8, 0, 0]


@st.composite
def _graphs(draw: st.DrawFn) -> list[SimulatedJob]:
    made = []
    for number in range(draw(st.integers(1, 25))):
        after = draw(st.sets(st.integers(0, number - 1), max_size=3)) if number else ()
        role, due = draw(st.sampled_from(["", "FE", "BE"])), draw(st.sampled_from([0, 0, 0, 30]))
        made.append(job(number, draw(st.integers(0, 20)), *after, role=role, due=due))
    return made


@given(_graphs(), st.integers(0, 4), st.integers(0, 3))
def test_every_schedule_keeps_its_rules(jobs: list[SimulatedJob], most: int, of_role: int) -> None:
    limits = QueueLimits(max_concurrent=most, roles={"FE": of_role})
    found = simulate(jobs, limits)
    for each, step in zip(jobs, found.steps, strict=True):
        assert step.start_us >= max([each.due_us, *(found.steps[n].end_us for n in each.depends_on)])
        assert step.end_us == step.start_us + each.run_us
        running = [
            other.role for other, at in zip(jobs, found.steps, strict=True) if at.start_us <= step.start_us < at.end_us
        ]
        assert not most or len(running) <= most
        assert not of_role or running.count("FE") <= of_role
    path = [found.steps[n] for n in found.critical_path()]
    assert path[-1].end_us == found.makespan_us
    assert all(before.end_us == after.start_us for before, after in pairwise(path))
    assert path[0].start_us == 0 or path[0].cause is Cause.TIME
    assert found.makespan_us >= simulate(jobs, QueueLimits()).makespan_us


class _Counted(int):
    """A place in the order that counts how often it is compared."""

    comparisons = 0

    def __lt__(self, other: int) -> bool:
        _Counted.comparisons += 1
        return int(self) < int(other)


def test_cost_does_not_grow_with_the_roles() -> None:
    compared = {}
    for roles in (4, 400):
        _Counted.comparisons = 0
        jobs = [
            SimulatedJob(order=(_Counted(n),), run_us=1 + n % 7, role=f"r{n % roles}", depends_on=[n // 2] if n else [])
            for n in range(2_000)
        ]
        simulate(jobs, QueueLimits(max_concurrent=50, roles={f"r{n}": 1 for n in range(roles)}))
        compared[roles] = _Counted.comparisons
    # A scan of the roles for each job would be 400 times 2,000.
    assert max(compared.values()) < 100_000, compared
