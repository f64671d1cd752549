"""Commands on a terminal: a live view, a progress bar, a question. Ctrl-C ends each without a traceback."""

import asyncio

import pytest

from hanbeon import App, Context, State
from hanbeon.testing import TestKit
from tests.cli.hanbeon import call
from tests.cli.terminal import Terminal

CTRL_C = "\x03"


async def _hang(ctx: Context) -> str:
    await ctx.progress(40)
    await asyncio.Event().wait()
    return ""


@pytest.mark.parametrize(("key", "code"), [("q", 0), (CTRL_C, 130)])
async def test_top_is_a_live_view_until_q_or_ctrl_c(app: App, app_url: str, key: str, code: int) -> None:
    app.task(name="기다리기")(_hang)
    await app.configure_queue("default", max_concurrent=2)
    async with app.worker(name="worker one"):
        job = await app.enqueue("기다리기")
        with Terminal("top", "--every", "100ms", "--database", app_url) as terminal:
            shown = await asyncio.to_thread(terminal.until, rf"{job.id}.*기다리기.*40%.*worker one")
            assert all(words in shown for words in ("1 live instance", "1 of 20", "2 at once", "jobs/s"))
            terminal.press(key)
            ended, modes = await asyncio.to_thread(terminal.end)
            assert (ended, modes) == (code, terminal.modes)
            shown = terminal.rest()
            assert shown.endswith("\x1b[?25h\x1b[?1049l") or "\x1b[?1049l" in shown, "the screen is given back"
            assert "Traceback" not in shown


async def test_top_fits_a_small_terminal(kit: TestKit, kit_url: str) -> None:
    for number in range(20):
        await kit.make_job(queue=f"queue {number}", state="running")
    with Terminal("top", "--every", "100ms", "--database", kit_url, width=60, height=12) as terminal:
        await asyncio.to_thread(terminal.until, "more lines")
        terminal.press("q")
        assert (await asyncio.to_thread(terminal.end))[0] == 0


async def test_without_a_terminal_top_is_one_frame(kit: TestKit, kit_url: str) -> None:
    job = await kit.make_job(state="running", queue="우편", progress="half\x1b[2J")
    lines = (await call("top", "--database", kit_url)).lines
    assert lines[0].startswith(" hanbeon ")
    assert any(job.id in line and "우편" in line for line in lines)
    assert not any("\x1b" in line for line in lines)
    document = (await call("top", "--json", "--database", kit_url)).document
    assert [each["id"] for each in document["running"]] == [job.id]
    assert document["queues"][0]["states"]["running"] == 1


@pytest.mark.parametrize("span", ["soon", "1ms"])
async def test_top_rejects_an_invalid_interval(sqlite_url: str, span: str) -> None:
    assert (await call("top", "--every", span, "--database", sqlite_url)).code == 2


async def test_waiting_and_following_show_a_bar(app: App, app_url: str) -> None:
    app.task(name="wait")(_hang)
    async with app.worker():
        options = ("--queue", "default", "--retries", "0", "--wait", "--database", app_url)
        with Terminal("enqueue", "wait", *options) as terminal:
            await asyncio.to_thread(terminal.until, r"wait.*running.*━.*40%")
            terminal.press(CTRL_C)
            ended, modes = await asyncio.to_thread(terminal.end)
            assert (ended, modes) == (130, terminal.modes)
            assert "is not stopped by this; `hanbeon cancel" in terminal.rest()
        (job,) = await app.jobs()
        with Terminal("job", job.id, "--follow", "--database", app_url) as terminal:
            await asyncio.to_thread(terminal.until, r"wait.*running.*━.*40%")
            await app.cancel(job.id)
            assert (await asyncio.to_thread(terminal.end))[0] == 1
            assert f"error: job {job.id} was cancelled" in terminal.rest()


@pytest.mark.parametrize(
    ("answer", "code", "state"), [("y", 0, "cancelled"), ("n", 1, "ready"), (CTRL_C, 130, "ready")]
)
async def test_a_question_is_asked_before_many_are_cancelled(
    kit: TestKit, kit_url: str, answer: str, code: int, state: str
) -> None:
    job = await kit.make_job()
    with Terminal("cancel", "--all", "--database", kit_url) as terminal:
        await asyncio.to_thread(terminal.until, r"Cancel 1 job\?")
        if answer == CTRL_C:
            await asyncio.to_thread(terminal.press_until_it_ends, CTRL_C)
        else:
            terminal.press(f"{answer}\n")
        assert (await asyncio.to_thread(terminal.end))[0] == code
        assert "Traceback" not in terminal.rest()
    assert await job.state() is State(state)
