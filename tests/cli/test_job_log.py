"""`hanbeon job ID --log` and `--follow`: the log as it arrives, without control characters."""

import asyncio
import json

from hanbeon import App, Context
from hanbeon.cli.job_follower import entry_text
from hanbeon.domain.log import LogStream
from hanbeon.surfaces.schema import LogEntry
from hanbeon.testing import TestKit
from tests.cli.hanbeon import call, start
from tests.cli.terminal import Terminal

SPOILING = "clear \x1b[2J, bell \x07, tab\there"
_AT = "2027-01-31T09:00:00.000+09:00"
SHOWN = "clear \\x1b[2J, bell \\x07, tab\there"


async def test_a_log_is_printed_as_text_or_json(kit: TestKit, kit_url: str) -> None:
    @kit.app.task(retries=1, retry_delay=1)
    async def work(ctx: Context) -> None:
        ctx.log(f"attempt {ctx.attempt}")
        ctx.log(SPOILING)
        if ctx.attempt == 1:
            raise ValueError

    job = await kit.app.enqueue(work)
    await kit.run_all()
    assert (await call("job", job.id, "--log", "--database", kit_url)).lines == ["attempt 1", SHOWN, "attempt 2", SHOWN]
    assert (await call("job", job.id, "--log", "--attempt", "2", "--database", kit_url)).lines == ["attempt 2", SHOWN]
    lines = (await call("job", job.id, "--log", "--json", "--database", kit_url)).lines
    documents = [json.loads(line) for line in lines]
    assert [(each["attempt"], each["line"]) for each in documents] == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert (documents[1]["text"], documents[1]["stream"]) == (SPOILING, "task")
    assert documents[0]["at"].startswith("2023-11-15T07:13:20")


async def test_cut_lines_are_marked(kit_url: str) -> None:
    async with TestKit(App(max_log_bytes=4_096), kit_url) as kit:

        @kit.app.task
        async def flood(ctx: Context) -> None:
            for number in range(1, 10_001):
                ctx.log(f"line {number}")

        job = await kit.app.enqueue(flood)
        await kit.tick()
        lines = (await call("job", job.id, "--log", "--database", kit_url)).lines
        assert (lines[0], lines[-1]) == ("line 1", "line 10000")
        (mark,) = [line for line in lines if not line.startswith("line ")]
        missing = 10_000 - (len(lines) - 1)
        assert mark == f"[… {missing:,} lines cut …]"
        documents = [
            json.loads(line) for line in (await call("job", job.id, "--log", "--json", "--database", kit_url)).lines
        ]
        (cut,) = [each for each in documents if "lines" in each]
        assert cut == {"attempt": 1, "line": lines.index(mark) + 1, "lines": missing}


async def test_a_long_line_is_printed_as_one(kit: TestKit, kit_url: str) -> None:
    @kit.app.task
    async def work(ctx: Context) -> None:
        ctx.log("x" * 100_000)
        ctx._backend.log(LogStream.STDOUT, b"without an end")
        ctx._backend.log(LogStream.STDERR, b"neither")

    job = await kit.app.enqueue(work)
    await kit.tick()
    assert (await call("job", job.id, "--log", "--database", kit_url)).lines == [
        "x" * 100_000,
        "without an end",
        "neither",
    ]


async def test_there_is_nothing_to_print(kit: TestKit, kit_url: str) -> None:
    job = await kit.make_job()
    assert (await call("job", job.id, "--log", "--database", kit_url)).lines == []
    missing = await call("job", "01a1e189-eda6-7180-9760-000000000000", "--log", "--database", kit_url)
    assert missing.code == 3
    for options in (["--attempt", "1"], ["--attempt", "1", "--log", "--follow"], ["--attempt", "0", "--log"]):
        assert (await call("job", job.id, *options, "--database", kit_url)).code == 2


async def test_following_shows_the_log_between_the_changes(app: App, app_url: str) -> None:
    go = asyncio.Event()

    @app.task
    async def work(ctx: Context) -> str:
        ctx.log(SPOILING)
        await go.wait()
        ctx.log("bye")
        return "done"

    async with app.worker():
        job = await app.enqueue(work)
        with start("job", job.id, "--follow", "--database", app_url) as following:
            try:
                assert following.stdout is not None
                seen = ""
                while "clear" not in seen:
                    seen = await asyncio.to_thread(following.stdout.readline)
                assert seen.endswith(f" task      {SHOWN}\n")
                go.set()
                rest, err = await asyncio.to_thread(following.communicate, timeout=30)
                assert (following.returncode, err) == (0, "")
                assert rest.index("bye") < rest.index("succeeded") < rest.index('"done"')
            finally:
                following.kill()
    lines = (await call("job", job.id, "--follow", "--json", "--database", app_url)).lines
    documents = [json.loads(line) for line in lines]
    assert [each.get("text") or each["state"] for each in documents] == [SPOILING, "bye", "succeeded"]
    assert (await call("job", job.id, "--follow", "--log", "--database", app_url)).lines == [SHOWN, "bye"]
    assert len((await call("job", job.id, "--follow", "--log", "--json", "--database", app_url)).lines) == 2


def test_streams_look_different_and_a_cut_like_neither() -> None:
    lines = [LogEntry(attempt=1, line=1, at=_AT, stream=stream, text="x") for stream in LogStream]
    styles = {LogStream(line.stream or ""): str(entry_text(line).style) for line in lines}
    assert styles[LogStream.STDERR] == "red"
    assert styles[LogStream.STDOUT] == styles[LogStream.TASK] == ""
    one, many = (entry_text(LogEntry(attempt=1, line=1, lines=count)) for count in (1, 1_234_567))
    assert (one.plain, many.plain) == ("[… 1 line cut …]", "[… 1,234,567 lines cut …]")


async def test_on_a_terminal_the_log_is_above_the_bar(app: App, app_url: str) -> None:
    go = asyncio.Event()

    @app.task
    async def work(ctx: Context) -> str:
        await ctx.progress(40)
        ctx.log(SPOILING)
        ctx._backend.log(LogStream.STDERR, b"warning\n")
        await go.wait()
        ctx.log("bye")
        return "done"

    async with app.worker():
        job = await app.enqueue(work)
        with Terminal("job", job.id, "--follow", "--database", app_url) as terminal:
            shown = await asyncio.to_thread(terminal.until, r"\\x1b\[2J.*warning.*work.*running.*━.*40%")
            assert "\x1b[2J" not in shown
            assert "\x07" not in shown
            go.set()
            assert (await asyncio.to_thread(terminal.end))[0] == 0
            assert "bye" in terminal.rest()


async def test_waiting_prints_the_log_beside_the_result(app: App, app_url: str) -> None:
    @app.task
    async def work(ctx: Context) -> str:
        ctx.log("on the way")
        return "done"

    async with app.worker():
        options = ("--queue", "default", "--retries", "0", "--wait", "--database", app_url)
        answer = await call("enqueue", "work", *options, "--log")
        assert (answer.code, answer.out, answer.err) == (0, '"done"\n', "on the way\n")
        answer = await call("enqueue", "work", *options)
        assert (answer.code, answer.out, answer.err) == (0, '"done"\n', "")
