"""`hanbeon pause`, `resume`, `limit`, `instances` and `events`."""

import json
import signal

import pytest

from hanbeon import App
from hanbeon.testing import TestKit
from tests.cli.hanbeon import call, start, unread


async def test_queues_are_paused_and_resumed(kit: TestKit, kit_url: str) -> None:
    await kit.make_job(queue="mail")
    await kit.make_job(queue="우편")
    assert (await call("pause", "mail", "우편", "--database", kit_url)).lines == ["mail: paused", "우편: paused"]
    answer = await call("resume", "mail", "--json", "--database", kit_url)
    (queue,) = answer.document["items"]
    assert (queue["name"], queue["paused"]) == ("mail", False)
    assert {queue.name: queue.paused for queue in await kit.app.queues()} == {"mail": False, "우편": True}


async def test_queues_are_found_by_a_part_of_their_name(kit: TestKit, kit_url: str) -> None:
    for name in ("mail", "우편", "Airmail"):
        await kit.make_job(queue=name)
    found = (await call("queues", "--name", "MAIL", "--json", "--database", kit_url)).document["items"]
    assert sorted(queue["name"] for queue in found) == ["Airmail", "mail"]


async def test_a_limit_leaves_the_others_as_they_are(kit: TestKit, kit_url: str) -> None:
    await kit.app.configure_queue("office", max_concurrent=5, roles={"FE": 1, "BE": 2})
    answer = await call("limit", "office", "--role", "BE=3", "--role", "QA=1", "--key", "a=b=2", "--database", kit_url)
    assert answer.lines == ["office: 5 at once, role BE=3, role FE=1, role QA=1, key a=b=2"]
    answer = await call("limit", "office", "--max-concurrent", "0", "--max-per-key", "2", "--database", kit_url)
    assert answer.lines == ["office: 2 per key, role BE=3, role FE=1, role QA=1, key a=b=2"]


async def test_unknown_queues_are_changed_only_with_create(kit: TestKit, kit_url: str) -> None:
    await kit.make_job(queue="office")
    answer = await call("limit", "ofice", "--max-concurrent", "1", "--database", kit_url)
    assert (answer.code, answer.err) == (3, "error: there is no queue 'ofice'; did you mean 'office'?\n")
    assert (await call("pause", "office", "nowhere", "--database", kit_url)).code == 3
    assert [queue.paused for queue in await kit.app.queues()] == [False]
    assert (await call("limit", "new", "--create", "--max-concurrent", "1", "--database", kit_url)).code == 0
    assert (await call("pause", "newer", "--create", "--database", kit_url)).code == 0
    assert [queue.name for queue in await kit.app.queues()] == ["new", "newer", "office"]


async def test_instances(app: App, app_url: str) -> None:
    app.task(name="work")(_work)
    async with app.worker(name="일꾼", concurrency=3):
        (instance,) = (await call("instances", "--alive", "--json", "--database", app_url)).document["items"]
        assert (instance["name"], instance["tasks"], instance["alive"]) == ("일꾼", ["work"], True)
        lines = (await call("instances", "--database", app_url)).lines
        assert all(words in lines[1] for words in ("일꾼", "alive", "0/3", "work"))
    assert "stopped" in (await call("instances", "--database", app_url)).out
    answer = await call("instances", "--alive", "--database", app_url)
    assert (answer.code, answer.out) == (0, "")
    assert "`hanbeon worker --database " in answer.err


async def _work() -> None:
    return


async def test_events_in_order_from_any_id_on(kit: TestKit, kit_url: str) -> None:
    first, second = await kit.make_job(queue="a"), await kit.make_job("보내기", queue="b", state="failed")
    events = [json.loads(line) for line in (await call("events", "--json", "--database", kit_url)).lines]
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    assert (events[0]["type"], events[0]["job_id"], events[0]["state"]) == ("enqueued", first.id, "ready")
    rest = [json.loads(line) for line in (await call("events", "--after", "1", "--json", "--database", kit_url)).lines]
    assert rest == events[1:]
    last = [json.loads(line) for line in (await call("events", "--last", "1", "--json", "--database", kit_url)).lines]
    assert last == events[-1:]
    for option in (("--queue", "b"), ("--job", second.id)):
        lines = (await call("events", *option, "--database", kit_url)).lines
        assert [line.split()[2] for line in lines] == ["enqueued", "claimed", "failed"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("pause",), 2, "QUEUE"),
        (("pause", "nowhere"), 3, "there is no queue 'nowhere'; its first job creates it"),
        (("resume", "nowhere"), 3, "there is no queue"),
        (("limit", "nowhere", "--max-concurrent", "1"), 3, "there is no queue"),
        (("limit", "nowhere"), 2, "nothing to change; pass --max-concurrent"),
        (("limit", "q", "--create", "--max-concurrent", "-1"), 2, "must be an integer from 0 to"),
        (("limit", "q", "--role", "FE"), 2, "must be a name and a number like name=2, got 'FE'"),
        (("limit", "q", "--key", "k=two"), 2, "must be a name and a number"),
        (("limit", "", "--create", "--max-concurrent", "1"), 2, "must not be empty"),
        (("events", "--after", "-1"), 2, "must be the id of an event from 0 to"),
        (("events", "--queue", "nowhere"), 3, "there is no queue 'nowhere'; `hanbeon queues` lists them"),
        (("events", "--job", "x"), 2, "must be the id of a job as `hanbeon jobs --database "),
    ],
)
async def test_bad_input(kit: TestKit, kit_url: str, arguments: tuple[str, ...], code: int, words: str) -> None:
    answer = await call(*arguments, "--database", kit_url)
    assert (answer.code, answer.out) == (code, "")
    assert words in answer.err
    assert "Traceback" not in answer.err
    assert await kit.app.queues() == []


async def test_following_events_goes_on_until_ctrl_c(app: App, app_url: str) -> None:
    app.task(name="work")(_work)
    with start("events", "--follow", "--after", "0", "--json", "--database", app_url) as following:
        assert following.stdout is not None
        try:
            for _ in range(2):
                job = await app.enqueue("work")
                assert json.loads(following.stdout.readline())["job_id"] == job.id
            following.send_signal(signal.SIGINT)
            assert following.communicate(timeout=30) == ("", "")
            assert following.returncode == 130
        finally:
            following.kill()


async def test_a_reader_that_has_seen_enough_is_no_error(app: App, app_url: str) -> None:
    app.task(name="work")(_work)
    await app.enqueue_many([app.tasks.get("work").call() for _ in range(300)])
    for arguments in (("jobs", "--limit", "300"), ("jobs", "--limit", "300", "--json"), ("events", "--after", "0")):
        done = unread(*arguments, "--database", app_url)
        assert (done.returncode, done.stderr) == (141, "")
