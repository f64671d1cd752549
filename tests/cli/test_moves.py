"""`hanbeon cancel`, `retry`, `mark-done`, `priority` and `explain`."""

import pytest

from hanbeon import State
from hanbeon.domain.lifecycle import UNFINISHED
from hanbeon.testing import TestKit
from tests.cli.hanbeon import call

_NOBODY = "01890000-0000-7000-8000-000000000000"


async def test_several_jobs_are_cancelled_and_retried_by_id(kit: TestKit, kit_url: str) -> None:
    first, second = await kit.make_job(), await kit.make_job(state="running")
    answer = await call("cancel", first.id, second.id, first.id, "--database", kit_url)
    assert answer.lines == [f"{first.id} cancelled", f"{second.id} running"]
    assert (await second.record()).stop_requested_at is not None

    failed = await kit.make_job(state="failed")
    answer = await call("retry", first.id, failed.id, "--json", "--database", kit_url)
    assert answer.document == {
        "jobs": [{"id": first.id, "state": "ready"}, {"id": failed.id, "state": "ready"}],
        "errors": [],
    }


async def test_retry_takes_a_comment_and_other_arguments(kit: TestKit, kit_url: str) -> None:
    failed = await kit.make_job(state="failed")
    options = ("--comment", "the disk was full", "--args", '{"a": 1}', "--database", kit_url)
    assert (await call("retry", failed.id, *options)).lines == [f"{failed.id} ready"]
    assert (await failed.record()).args == '{"a":1}'
    refused = await call("retry", failed.id, "--args", "[1]", "--database", kit_url)
    assert (refused.code, refused.out) == (2, "")
    assert "args: must be" in refused.err


async def test_jobs_are_marked_as_done_with_a_result(kit: TestKit, kit_url: str) -> None:
    failed, ready = await kit.make_job(state="failed"), await kit.make_job()
    options = ("--comment", "it is on paper", "--result", '{"pages": 2}', "--database", kit_url)
    answer = await call("mark-done", failed.id, ready.id, *options)
    assert (answer.code, answer.out) == (4, f"{failed.id} succeeded\n")
    assert "only failed or cancelled jobs can be marked as done" in answer.err
    assert await failed.result() == {"pages": 2}
    assert "marked it as done" in (await call("explain", failed.id, "--database", kit_url)).out


async def test_one_refusal_does_not_stop_the_others(kit: TestKit, kit_url: str) -> None:
    done, waiting = await kit.make_job(state="succeeded"), await kit.make_job()
    answer = await call("cancel", _NOBODY, done.id, waiting.id, "--json", "--database", kit_url)
    assert answer.code == 3, "that of the first refusal"
    assert answer.err.count("error: ") == 2
    assert "only pending or ready or running jobs can be cancelled" in answer.err
    assert '"code":"job_not_found"' in answer.out
    assert await waiting.state() is State.CANCELLED
    assert (await call("cancel", done.id, "--database", kit_url)).code == 4

    answer = await call("cancel", waiting.id, "nonsense", "--database", kit_url)
    assert (answer.code, answer.out) == (2, ""), "a slip on the command line is found before anything is done"


async def test_ids_may_be_shortened_if_they_mean_one_job(kit: TestKit, kit_url: str) -> None:
    first = await kit.make_job(id="01890000-0000-7000-8000-00000000000a")
    second = await kit.make_job(id="01890000-0000-7000-8000-00000000000b")
    other = await kit.make_job(id="01890001-0000-7000-8000-00000000000b")
    answer = await call("cancel", "01890001", "01890000", "--database", kit_url)
    assert (answer.code, answer.out) == (2, ""), "of the second several are found before the first is cancelled"
    assert f"which several ids match: {second.id} and {first.id}; give more of it" in answer.err
    answer = await call("cancel", "01890001", "01890000…000b", other.id, "--database", kit_url)
    assert answer.lines == [f"{other.id} cancelled", f"{second.id} cancelled"]
    answer = await call("cancel", "01890002", "--database", kit_url)
    assert (answer.code, "no job has an id like '01890002'" in answer.err) == (3, True)
    for command in ("job", "explain"):
        whole = await call(command, first.id, "--json", "--database", kit_url)
        assert (await call(command, "01890000...0a", "--json", "--database", kit_url)).out == whole.out


async def test_cancel_by_filter_needs_confirmation(kit: TestKit, kit_url: str) -> None:
    mail = [await kit.make_job(queue="mail") for _ in range(2)]
    other = await kit.make_job()
    answer = await call("cancel", "--queue", "mail", "--database", kit_url)
    assert (answer.code, answer.out) == (2, "")
    assert "Cancel 2 jobs? stdin is not a terminal; pass --yes to confirm" in answer.err
    assert [await job.state() for job in mail] == [State.READY] * 2

    answer = await call("cancel", "--queue", "mail", "--yes", "--json", "--database", kit_url)
    assert answer.document == {"cancelled": [job.id for job in mail]}
    assert (await call("cancel", "--queue", "mail", "--database", kit_url)).lines == ["no unfinished job matches"]
    assert await other.state() is State.READY
    assert (await call("cancel", "--all", "--yes", "--database", kit_url)).lines == ["cancelled 1 job"]


@pytest.mark.parametrize("state", sorted(UNFINISHED))
async def test_a_filter_by_state(kit: TestKit, kit_url: str, state: State) -> None:
    made = {each: await kit.make_job(state=each) for each in sorted(UNFINISHED)}
    answer = await call("cancel", "--state", state, "--yes", "--json", "--database", kit_url)
    assert answer.document == {"cancelled": [made[state].id]}


async def test_priority_and_urgency(kit: TestKit, kit_url: str) -> None:
    job = await kit.make_job()
    assert (await call("priority", job.id, "--to", "-5", "--urgent", "--database", kit_url)).lines == [
        f"{job.id} ready"
    ]
    record = await job.record()
    assert (record.priority, record.urgent) == (-5, True)
    await call("priority", job.id, "--not-urgent", "--database", kit_url)
    record = await job.record()
    assert (record.priority, record.urgent) == (-5, False)


async def test_explain(kit: TestKit, kit_url: str) -> None:
    first = await kit.make_job(state="failed")
    second = await kit.make_job("unknown", state="pending", after=[first])
    lines = (await call("explain", second.id, "--database", kit_url)).lines
    assert lines[0].startswith(f"It is blocked by {first.id}")
    assert lines[-1] == "No live worker has registered task 'unknown'; start one that does."
    document = (await call("explain", second.id, "--json", "--database", kit_url)).document
    assert not document["runnable"]
    assert [reason["code"] for reason in document["reasons"]] == ["blocked", "no_worker"]


async def test_explain_says_why_a_job_failed(kit: TestKit, kit_url: str) -> None:
    job = await kit.make_job(state="failed", message="the disk\nis full", failure_type="disk_full")
    (line,) = (await call("explain", job.id, "--database", kit_url)).lines
    assert line.startswith("It has ended: failed. Attempt 1, after 0 of 3 retries, failed ")
    assert "disk_full: the disk\\nis full. " in line
    assert line.endswith("then retry it.")
    ((reason),) = (await call("explain", job.id, "--json", "--database", kit_url)).document["reasons"]
    assert (reason["code"], reason["failure_type"], reason["attempt"]) == ("finished", "disk_full", 1)
    assert reason["finished_at"].endswith("+09:00")


async def test_job_and_explain_show_the_traceback(kit: TestKit, kit_url: str) -> None:
    @kit.app.task(retries=1, retry_delay=0)
    async def work() -> None:
        raise ValueError("no \x1b[2J price")

    job = await kit.app.enqueue(work)
    await kit.run_all()
    shown = (await call("job", job.id, "--database", kit_url)).lines
    place = shown.index("Attempt 2 raised ValueError:")
    assert shown[place + 1] == "  Traceback (most recent call last):"
    assert shown[place + 3].strip().startswith("raise ValueError(")
    assert shown[-1] == "  ValueError: no \\x1b[2J price", "a terminal obeys nothing of it"
    explained = (await call("explain", job.id, "--database", kit_url)).lines
    assert explained[1:3] == ["", "  Traceback (most recent call last):"]
    assert explained[-1] == shown[-1]
    ((reason),) = (await call("explain", job.id, "--json", "--database", kit_url)).document["reasons"]
    document = (await call("job", job.id, "--json", "--database", kit_url)).document
    assert reason["exception"] == document["failure"]["exception"] == "ValueError"
    assert reason["traceback"] == document["failure"]["traceback"]
    assert [each["failure"]["message"] for each in document["attempts"]] == ["ValueError: no \x1b[2J price"] * 2


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("cancel",), 2, "pass ids, or choose jobs with"),
        (("cancel", _NOBODY, "--queue", "mail"), 2, "not both"),
        (("cancel", "--queue", "mial", "--yes"), 3, "there is no queue 'mial'"),
        (("cancel", "--state", "failed"), 2, "must be one of pending, ready, running"),
        (("cancel", "--state", "gone"), 2, "--state"),
        (("retry",), 2, "ID"),
        (("retry", "x"), 2, "must be the id of a job as `hanbeon jobs"),
        (("retry", _NOBODY), 3, "no job has the id"),
        (("mark-done", _NOBODY), 2, "--comment"),
        (("mark-done", _NOBODY, "-c", ""), 2, "comment: must be a string of 1 to 2000 characters"),
        (("mark-done", _NOBODY, "-c", "x", "--result", "{"), 2, "result: must be a JSON value"),
        (("mark-done", _NOBODY, "-c", "x"), 3, "no job has the id"),
        (("priority", _NOBODY), 2, "pass --to, --urgent or --not-urgent"),
        (("priority", _NOBODY, "--to", "high"), 2, "--to"),
        (("priority", _NOBODY, "--to", "9999999999"), 2, "must be an integer from"),
        (("priority", _NOBODY, "--to", "1"), 3, "no job has the id"),
        (("explain", "x"), 2, "must be the id of a job as `hanbeon jobs"),
        (("explain", _NOBODY), 3, "no job has the id"),
    ],
)
async def test_bad_input(kit: TestKit, kit_url: str, arguments: tuple[str, ...], code: int, words: str) -> None:
    answer = await call(*arguments, "--database", kit_url)
    assert (answer.code, answer.out) == (code, "")
    assert words in answer.err
    assert "Traceback" not in answer.err
