"""`hanbeon jobs`, `job` and `queues`, as tables and as JSON."""

import datetime as dt

import msgspec
import pytest

from hanbeon import App
from hanbeon.testing import TestKit
from tests.cli.hanbeon import call

_NOBODY = "01890000-0000-7000-8000-000000000000"


async def test_jobs_are_listed_in_pages_by_filter(kit: TestKit, kit_url: str) -> None:
    made = [await kit.make_job("메일 보내기", queue="우편", role="발송", work_item="W-1") for _ in range(3)]
    await kit.make_job("other", state="failed", message="no\x1b[2J\nway")

    first = (await call("jobs", "--queue", "우편", "--limit", "2", "--json", "--database", kit_url)).document
    assert [job["id"] for job in first["items"]] == [made[2].id, made[1].id]
    rest = await call("jobs", "--queue", "우편", "--after", first["next_cursor"], "--json", "--database", kit_url)
    assert [job["id"] for job in rest.document["items"]] == [made[0].id]
    assert rest.document["next_cursor"] is None
    oldest = ("jobs", "--oldest", "--queue", "우편", "--json", "--database", kit_url)
    first = (await call(*oldest, "--limit", "2")).document
    assert [job["id"] for job in first["items"]] == [made[0].id, made[1].id]
    rest = await call(*oldest, "--after", first["next_cursor"])
    assert [job["id"] for job in rest.document["items"]] == [made[2].id]

    for option in (("--state", "failed"), ("--task", "other")):
        answer = await call("jobs", *option, "--database", kit_url)
        assert len(answer.lines) == 2
        assert answer.lines[1].endswith(r"error: no\x1b[2J\nway")
    both = await call("jobs", "--state", "failed", "--state", "ready", "--json", "--database", kit_url)
    assert len(both.document["items"]) == 4
    for option in (("--role", "발송"), ("--work-item", "W-1"), ("--task", "메일 보내기")):
        assert len((await call("jobs", *option, "--json", "--database", kit_url)).document["items"]) == 3


async def test_wide_characters_line_up(kit: TestKit, kit_url: str) -> None:
    await kit.make_job("메일", queue="우편")
    await kit.make_job("mail", queue="post")
    heading, wide, narrow = (await call("jobs", "--oldest", "--database", kit_url)).lines
    place = heading.index("TASK")
    assert narrow[place:].startswith("mail")
    assert wide[place - len("우편") :].startswith("메일"), "each of the two before it takes two places"


async def test_next_page_is_announced_on_stderr(kit: TestKit, kit_url: str) -> None:
    await kit.make_job()
    second = await kit.make_job()
    await kit.make_job()
    answer = await call("jobs", "--limit", "2", "--database", kit_url)
    assert answer.err == f"more results: add --after {(await second.record()).seq}\n"
    assert answer.out.count("\n") == 3
    assert (await call("jobs", "--limit", "3", "--database", kit_url)).err == ""


async def test_empty_results_are_reported_on_stderr(kit: TestKit, kit_url: str) -> None:
    assert await call("jobs", "--database", kit_url) == (0, "", "no matching jobs\n")
    assert (await call("jobs", "--json", "--database", kit_url)).document == {"items": [], "next_cursor": None}
    assert (await call("queues", "--database", kit_url)).err.startswith("no queues; ")


async def test_progress_is_shown_while_it_says_something(kit: TestKit, kit_url: str) -> None:
    for progress in (40, {"step": 2}, "반", True):
        await kit.make_job(state="running", progress=progress)
    await kit.make_job(state="succeeded", progress=100)
    lines = (await call("jobs", "--oldest", "--database", kit_url)).lines
    assert [line.split()[-1] for line in lines[1:5]] == ["40%", '{"step":2}', '"반"', "true"]
    assert not lines[5].endswith("100%")


async def test_a_job_is_shown_with_its_attempts_and_what_it_waits_for(kit: TestKit, kit_url: str) -> None:
    failed = await kit.make_job("first", {"n": 1}, state="failed", message="broke", timeout=90)
    waiting = await kit.make_job("second", state="pending", after=[failed])

    shown = "\n".join((await call("job", failed.id, "--database", kit_url)).lines)
    assert all(words in shown for words in ("state", "failed", '{"n":1}', "error: broke", "1m30s", "ATTEMPT"))
    assert failed.id in "\n".join((await call("job", waiting.id, "--database", kit_url)).lines)

    document = (await call("job", failed.id, "--json", "--database", kit_url)).document
    assert (document["state"], document["args"], document["timeout_ms"]) == ("failed", {"n": 1}, 90_000)
    assert [attempt["status"] for attempt in document["attempts"]] == ["failed"]
    created = dt.datetime.fromisoformat(document["created_at"])
    assert created.utcoffset() == dt.timedelta(hours=9)
    assert created.timestamp() == pytest.approx(kit.clock.now_us() / 1e6)
    document = (await call("job", waiting.id, "--json", "--database", kit_url)).document
    assert document["depends_on"] == [{"id": failed.id, "task": "first", "state": "failed"}]
    assert document == msgspec.to_builtins(await kit.app.engine.job(waiting.id)), "the body of the API"


async def test_job_counts_a_retry_as_used_once_it_runs(kit: TestKit, kit_url: str) -> None:
    kit.app.task(name="broken", retries=2)(_broken)
    job = await kit.app.enqueue("broken")
    await kit.tick()
    assert "attempts 1; waits for retry 1 of 2" in await _facts(job.id, kit_url)
    await kit.run_all()
    assert "attempts 3; 2 of 2 retries used" in await _facts(job.id, kit_url)


async def _facts(job_id: str, url: str) -> list[str]:
    return [" ".join(line.split()) for line in (await call("job", job_id, "--database", url)).lines]


async def _broken() -> None:
    raise ConnectionError("nobody answers")


async def test_queues_are_shown_with_their_numbers_and_limits(app: App, app_url: str) -> None:
    app.task(name="quick")(_quick)
    await app.configure_queue("office", max_concurrent=3, max_per_key=2, roles={"FE": 1}, keys={"k": 4})
    await app.pause("office")
    async with app.worker():
        await (await app.enqueue("quick")).result(timeout=30)
    queues = {
        queue["name"]: queue for queue in (await call("queues", "--json", "--database", app_url)).document["items"]
    }
    assert queues["office"]["paused"]
    office = queues["office"]
    assert (office["max_concurrent"], office["max_per_key"]) == (3, 2)
    assert (office["roles"], office["keys"]) == ({"FE": 1}, {"k": 4})
    assert queues["default"]["states"]["succeeded"] == 1
    assert queues["default"]["wait"]["count"] == 1
    lines = (await call("queues", "--database", app_url)).lines
    assert lines[0].startswith("QUEUE")
    assert lines[2].endswith("paused, 3 at once, 2 per key, role FE=1, key k=4")


async def _quick() -> None:
    return


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("jobs", "--state", "done"), 2, "'pending', 'ready', 'running'"),
        (("jobs", "--limit", "0"), 2, "must be an integer from 1 to"),
        (("jobs", "--after", "-1"), 2, "must be an integer from 0 to"),
        (("jobs", "--after", "x"), 2, "--after"),
        (("jobs", "--queue", "nowhere"), 3, "there is no queue 'nowhere'"),
        (("job", "123"), 2, "must be the id of a job as `hanbeon jobs --database "),
        (("job", _NOBODY), 3, "no job has the id"),
        (("queues", "--window", "soon"), 2, "must be a duration"),
        (("queues", "--window", "9d"), 2, "from 60 to 604800"),
    ],
)
async def test_bad_input(kit: TestKit, kit_url: str, arguments: tuple[str, ...], code: int, words: str) -> None:
    answer = await call(*arguments, "--database", kit_url)
    assert (answer.code, answer.out) == (code, "")
    assert words in answer.err
    assert "Traceback" not in answer.err
