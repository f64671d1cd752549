"""The seed's sequence over HTTP: two servers with a worker each on one PostgreSQL, and commands as sessions."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from hanbeon.domain.outcome import TIMEOUT_MESSAGE
from tests.cli.hanbeon import hanbeon
from tests.outbound.mail import Mailbox, smtp_thread
from tests.server.client import Client, Response
from tests.server.e2e.recounter import Recounter
from tests.server.e2e.server_process import ServerProcess, until
from tests.server.e2e.sessions import Workshop
from tests.storm.sampler import Sampler

_CONFIG = {
    "maxConcurrentJobs": 3,
    "maxConcurrentByRole": {"FE": 1, "BE": 2, "QA": 1},
    "maxRetries": 2,
    "retryBackoff": "linear",
    "retryBaseDelay": 50,
}
_COUNTED = ("pending", "ready", "processing", "done", "failed", "cancelled")
_ENDED = ("done", "failed", "cancelled")


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


@pytest.fixture
def servers(postgres_url: str, workshop: Workshop) -> Iterator[list[ServerProcess]]:
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                ServerProcess(
                    *(postgres_url, workshop.config, name),
                    lease="30",
                    stop_grace="1",
                    outbound_allow_private="true",  # The mail server of these tests is on this machine.
                )
            )
            for name in ("one", "other")
        ]


class Office:
    """One office, reached through either server."""

    def __init__(self, client: Client, **more: Any) -> None:
        body = {"name": "Seoul", "config": _CONFIG, "sessions": {"default": "note"}, **more}
        self.id = client.ask_now("POST", "/api/offices", body).json["id"]
        self.path = f"/api/offices/{self.id}"

    def make(self, client: Client, *jobs: dict[str, Any]) -> dict[str, str]:
        """Make jobs; their ids by key. Each session gets its job's key as its name."""
        bodies = [{"args": {"name": job["key"]}, **job} for job in jobs]
        made = client.ask_now("POST", f"{self.path}/jobs", {"jobs": bodies})
        assert made.status == 201, made
        for job in made.json["jobs"]:
            assert job["status"] == ("pending" if job["depends_on"] else "ready")
        return {job["key"]: job["id"] for job in made.json["jobs"]}

    def job(self, client: Client, job_id: str) -> dict[str, Any]:
        found: dict[str, Any] = client.ask_now("GET", f"{self.path}/jobs/{job_id}").json
        return found

    def all(self, client: Client) -> list[dict[str, Any]]:
        found, cursor = [], ""
        while True:
            page = client.ask_now("GET", f"{self.path}/jobs?limit=50{cursor}").json
            found += page["items"]
            if page["next_cursor"] is None:
                return found
            cursor = f"&cursor={page['next_cursor']}"

    def stats(self, client: Client) -> dict[str, int]:
        found: dict[str, int] = client.ask_now("GET", f"{self.path}/scheduler/stats").json
        return found

    def change(self, client: Client, **config: Any) -> None:
        assert client.ask_now("PATCH", f"{self.path}/scheduler/config", config).status == 200

    def wait(self, client: Client, what: str, **counts: int) -> None:
        """Wait until its stats have these numbers."""
        until(lambda: counts.items() <= self.stats(client).items(), f"{what}: {counts}")

    def types(self, client: Client, last: str) -> dict[str, list[str]]:
        """Return the types of every event so far by job, up to one of this type, as the stream sends them."""
        parts = urlsplit(client.url)
        connection = HTTPConnection(str(parts.hostname), parts.port, timeout=60)
        found: dict[str, list[str]] = {}
        try:
            connection.request("GET", f"{self.path}/events?after=0")
            for line in connection.getresponse():
                if line.startswith(b"data: "):
                    event = json.loads(line[6:])
                    if "job_id" in event:  # The first message names the incarnation.
                        found.setdefault(event["job_id"], []).append(event["type"])
                    if event["type"] == last:
                        break
        finally:
            connection.close()
        return found


def _quiet_numbers_are_a_recount(office: Office, client: Client) -> None:
    counted = Counter("processing" if job["status"] == "timeout" else job["status"] for job in office.all(client))
    stats = office.stats(client)
    assert {name: stats[name] for name in _COUNTED} == {name: counted[name] for name in _COUNTED}


def _graph() -> list[dict[str, Any]]:
    """Twelve features: architect → front end and back end → quality."""
    jobs: list[dict[str, Any]] = []
    for n in range(12):
        jobs += [
            {"key": f"plan{n}", "role": "Architect", "task_id": f"T-{n}"},
            {"key": f"fe{n}", "role": "FE", "depends_on": [f"plan{n}"], "task_id": f"T-{n}"},
            {"key": f"be{n}", "role": "BE", "depends_on": [f"plan{n}"], "task_id": f"T-{n}"},
            {"key": f"qa{n}", "role": "QA", "depends_on": [f"fe{n}", f"be{n}"], "task_id": f"T-{n}"},
        ]
    return jobs


def test_the_sequence_of_the_seed(servers: list[ServerProcess], postgres_url: str, workshop: Workshop) -> None:
    with smtp_thread() as mailbox:
        _sequence(servers, postgres_url, workshop, mailbox)


def _sequence(servers: list[ServerProcess], postgres_url: str, workshop: Workshop, mailbox: Mailbox) -> None:
    one, other = (server.client for server in servers)
    office = Office(one, notifications=[mailbox.target()])
    with Recounter(postgres_url) as recounter, Sampler(postgres_url) as sampler:
        ids = office.make(one, *_graph())
        ids |= office.make(
            other,
            {"key": "late", "handler": "stuck", "timeout_ms": 1_500, "urgent": True},
            {"key": "behind", "depends_on": ["late"]},
        )
        total = len(ids)
        until(lambda: _ended(office, (one, other), total) == total - 1, "all but one have ended", 180)
    assert not recounter.different, recounter.different[:3]
    assert not sampler.exceeded, str(sampler)
    assert len(recounter.seen) > 3
    assert 1 <= sampler.most_in(f"office:{office.id}") <= 3
    for client in (one, other):
        _quiet_numbers_are_a_recount(office, client)

    jobs = {job["id"]: job for job in office.all(other)}
    for key, job_id in ids.items():
        assert jobs[job_id]["status"] == {"late": "failed", "behind": "pending"}.get(key, "done"), jobs[job_id]
        if jobs[job_id]["status"] == "done":
            for dependency in jobs[job_id]["depends_on"]:
                assert jobs[dependency]["completed_at"] <= jobs[job_id]["started_at"]
    assert jobs[ids["behind"]]["blocked_by"] == [ids["late"]]

    late = office.job(one, ids["late"])
    assert (late["failure_type"], late["error_message"], late["retry_count"]) == ("timeout", TIMEOUT_MESSAGE, 2)
    assert [each["status"] for each in late["executions"]] == ["timeout"] * 3
    assert len({each["session_id"] for each in late["executions"]}) == 3
    begun = Counter(each.name for each in workshop.begun())
    tries = begun.pop("late", 0)
    assert tries <= 3  # On a busy machine its timeout may pass before it has written anything.
    assert begun == dict.fromkeys(ids.keys() - {"late", "behind"}, 1)
    assert not [each for each in workshop.begun() if each.name == "late" and psutil.pid_exists(each.pid)]
    tried = ["job_ready", "job_started", "job_timeout"]
    types = office.types(other, "job_failed")
    assert types[ids["late"]] == [*tried, "job_retrying", *tried, "job_retrying", *tried, "job_failed"]

    # Both servers relay, and people hear of the failure once.
    until(lambda: mailbox.messages, "the failure is mailed")
    text = mailbox.messages[0].get_body(("plain", "html")).get_content()  # type: ignore[union-attr]
    assert ids["late"] in text
    assert TIMEOUT_MESSAGE in text

    # A job that is retried and succeeds releases its dependents.
    assert one.ask_now("POST", f"{office.path}/jobs/{ids['late']}/cancel").status == 409
    assert other.ask_now("POST", f"{office.path}/jobs/{ids['late']}/retry").status == 200
    office.wait(one, "it is tried again", processing=1)
    assert one.ask_now("POST", f"{office.path}/jobs/{ids['late']}/cancel").status in (200, 202)
    office.wait(other, "cancelled while it ran", cancelled=1, pending=1)
    assert len(mailbox.messages) == 1


def _ended(office: Office, clients: tuple[Client, ...], total: int) -> int:
    """Return how many have ended by the stats of every server, each of which must add up at any time."""
    ended = []
    for client in clients:
        stats = office.stats(client)
        assert sum(stats[name] for name in _COUNTED) == total, stats
        assert stats["processing"] <= 3, stats
        ended.append(sum(stats[name] for name in _ENDED))
    return min(ended)


@pytest.mark.slow
def test_urgent_before_priority_before_creation(servers: list[ServerProcess], workshop: Workshop) -> None:
    one, other = (server.client for server in servers)
    office = Office(one, config={**_CONFIG, "maxConcurrentByRole": {"QA": 1}})
    office.make(one, {"key": "first", "role": "QA", "handler": "gate"})
    until(workshop.begun, "the only slot is taken")
    ids = office.make(
        other,
        *(
            {"key": key, "role": "QA", "priority": priority}
            for key, priority in (("c", 5), ("d", 5), ("b", 1), ("a", 9))
        ),
        {"key": "urgent", "role": "QA", "priority": 99, "urgent": True},
        {"key": "moved", "role": "QA", "priority": 100},
    )
    assert one.ask_now("PATCH", f"{office.path}/jobs/{ids['a']}/priority", {"priority": -1}).status == 200
    assert other.ask_now("PATCH", f"{office.path}/jobs/{ids['moved']}/priority", {"urgent": True}).status == 200
    workshop.open_gate("first")
    office.wait(one, "all are done", done=7)
    assert [each.name for each in workshop.begun()] == ["first", "urgent", "moved", "a", "b", "c", "d"]


@pytest.mark.slow
def test_config_change_applies_at_the_other_servers_next_claim(postgres_url: str, workshop: Workshop) -> None:
    with (
        ServerProcess(postgres_url, workshop.config, "api", "--no-worker") as api,
        ServerProcess(postgres_url, workshop.config, "worker") as worker,
        Sampler(postgres_url) as sampler,
    ):
        office = Office(api.client, config={"maxConcurrentJobs": 1}, sessions={"default": "gate"})
        office.make(api.client, *({"key": f"job{n}"} for n in range(8)))
        office.wait(worker.client, "the only slot is taken", processing=1)
        idle = worker.client.ask_now("POST", f"{office.path}/scheduler/process").json
        assert idle == {"activated": 0, "started": 0, "available_slots": 0}
        office.change(api.client, maxConcurrentJobs=4)
        worker.client.ask_now("POST", f"{office.path}/scheduler/process")
        office.wait(api.client, "the new slots are taken", processing=4, ready=4)
        until(lambda: len(workshop.begun()) == 4, "their sessions have begun")
        office.change(api.client, maxConcurrentJobs=2)
        for each in workshop.begun()[:2]:
            workshop.open_gate(each.name)
        office.wait(api.client, "two have ended", done=2)
        assert worker.client.ask_now("POST", f"{office.path}/scheduler/process").json["started"] == 0
        assert len(workshop.begun()) == 4
        for n in range(8):
            workshop.open_gate(f"job{n}")
        office.wait(api.client, "all are done", done=8)
    assert not sampler.exceeded, str(sampler)


@pytest.mark.slow
def test_process_on_both_servers_at_once_starts_nothing_twice(
    servers: list[ServerProcess], workshop: Workshop, postgres_url: str
) -> None:
    office = Office(servers[0].client, config={"maxConcurrentJobs": 5})
    rounds, jobs = 20, 5
    answers: list[Response] = []
    with Sampler(postgres_url) as sampler:
        for number in range(rounds):
            begin = threading.Barrier(len(servers) + 1)

            def cycle(server: ServerProcess, begin: threading.Barrier = begin) -> None:
                begin.wait()
                answers.append(server.client.ask_now("POST", f"{office.path}/scheduler/process"))

            threads = [threading.Thread(target=cycle, args=(server,)) for server in servers]
            for thread in threads:
                thread.start()
            begin.wait()
            office.make(servers[number % 2].client, *({"key": f"{number}-{n}"} for n in range(jobs)))
            for thread in threads:
                thread.join()
        office.wait(servers[0].client, "all are done", done=rounds * jobs)
    assert [answer.status for answer in answers] == [200] * rounds * len(servers)
    begun = Counter(each.name for each in workshop.begun())
    assert begun == {f"{number}-{n}": 1 for number in range(rounds) for n in range(jobs)}
    assert sum(answer.json["started"] for answer in answers) <= rounds * jobs
    assert not sampler.exceeded, str(sampler)


@pytest.mark.slow
def test_when_one_server_is_killed_the_other_finishes_everything(
    servers: list[ServerProcess], workshop: Workshop, postgres_url: str
) -> None:
    office = Office(servers[0].client, config={**_CONFIG, "maxConcurrentJobs": 6, "maxConcurrentByRole": {}})
    with Recounter(postgres_url) as recounter, Sampler(postgres_url) as sampler:
        ids = office.make(servers[0].client, *({"key": f"hold{n}", "handler": "gate"} for n in range(6)), *_graph())
        until(lambda: len(workshop.begun()) >= 6, "every slot is taken")
        doomed, survivor = sorted(servers, key=lambda server: len(_sessions(server, workshop)), reverse=True)
        killed = _sessions(doomed, workshop)
        assert killed
        doomed.kill()
        until(lambda: not any(psutil.pid_exists(pid) for pid in killed), "its sessions are dead")
        for n in range(6):
            workshop.open_gate(f"hold{n}")
        office.wait(survivor.client, "all are done", done=len(ids))
    assert not recounter.different, recounter.different[:3]
    assert not sampler.exceeded, str(sampler)
    _quiet_numbers_are_a_recount(office, survivor.client)
    begun = Counter(each.name for each in workshop.begun())
    assert begun.keys() == ids.keys()
    assert sum(begun.values()) == len(ids) + len(killed), "only what was killed began again"
    assert not [each for each in workshop.begun() if psutil.pid_exists(each.pid)]
    survivor.stop()
    verified = hanbeon("verify", "--database", postgres_url)
    assert verified.returncode == 0, verified.stdout + verified.stderr


def _sessions(server: ServerProcess, workshop: Workshop) -> set[int]:
    """Those that this server runs now."""
    own = {each.pid for each in psutil.Process(server.process.pid).children(recursive=True)}
    return own & {each.pid for each in workshop.begun()}
