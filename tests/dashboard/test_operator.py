"""Pages for an operator on call: names that fit, words of their language, and no false alarm."""

import re

import pytest
from playwright.async_api import Browser, expect

from hanbeon import App, Context
from hanbeon.domain.job import NewJob
from hanbeon.ids import new_id
from tests.dashboard.pages import PATIENT_MS, opened
from tests.server.client import serving
from tests.surfaces.chains.chain_kit import LIBRARY

pytestmark = pytest.mark.asyncio(loop_scope="session")

expect.set_options(timeout=PATIENT_MS)
_PHONE = {"width": 375, "height": 780}


def _app(url: str) -> App:
    app = App(url, shutdown_grace=0.2)

    @app.task(name="fail", retries=0)
    async def fail() -> None:
        raise ValueError("the bank is closed")

    return app


async def test_queues_beyond_the_first_page_can_be_paused(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app) as server:
        await app.enqueue_many([app.tasks.get("fail").call().set(queue=f"q{n:03}") for n in range(120)])
        page, complaints = await opened(browser, f"{server.url}/#/queues")
        rows = page.locator("tbody tr")
        await expect(rows).to_have_count(100)
        await page.get_by_role("button", name="Load more").click()
        await expect(rows).to_have_count(120)
        for _ in range(2):
            await page.get_by_role("button", name="Pause q119").click()
        await expect(page.get_by_role("button", name="Resume q119")).to_be_visible()
        # The page in sight stays fresh by itself, whichever it is, and the first one when it is in sight again.
        for name, scroll in (("q119", "scrollTo(0, document.body.scrollHeight)"), ("q000", "scrollTo(0, 0)")):
            await page.evaluate(scroll)
            await app.configure_queue(name, max_concurrent=7)
            await expect(page.locator("tbody tr", has_text=name).locator("td").nth(8)).to_have_text("7")
        await expect(rows).to_have_count(120)
        # A queue that comes moves the others on: none is lost, none is shown twice.
        await page.evaluate("scrollTo(0, 0)")
        await app.enqueue("fail", queue="a-new-one")
        await expect(rows).to_have_count(121)
        names = await rows.locator("td:first-child a").all_inner_texts()
        assert names == ["a-new-one", *(f"q{n:03}" for n in range(120))]
        assert complaints == []


async def test_queues_are_found_by_name(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app) as server:
        for queue in ("mail", "shop.Orders", "shop.orders.late"):
            await app.enqueue("fail", queue=queue)
        page, complaints = await opened(browser, f"{server.url}/#/queues")
        names = page.locator("tbody td:first-child a")
        await expect(names).to_have_count(3)
        await page.get_by_role("searchbox", name="Search by name").fill("ORDERS")
        await expect(names).to_have_text(["shop.Orders", "shop.orders.late"])
        assert page.url.endswith("#/queues?name=ORDERS")
        await page.get_by_role("searchbox", name="Search by name").fill("nothing")
        await expect(page.locator(".panel .empty")).to_have_text("No queue has that in its name.")
        await page.goto(f"{server.url}/#/queues?name=mail")
        await expect(names).to_have_text(["mail"])
        assert complaints == []


async def test_job_page_shows_why_it_failed(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app) as server:

        @app.task(name="twice", retries=1, retry_delay=0)
        async def twice(ctx: Context) -> None:
            ctx.log(f"attempt {ctx.attempt} begins")
            raise ValueError(f"no luck in {ctx.attempt}")

        job = await app.enqueue(twice)
        async with app.worker():
            await job.wait(60)
        page, complaints = await opened(browser, f"{server.url}/#/jobs/{job.id}")
        last = page.locator(".traceback").first
        await expect(last).to_contain_text('raise ValueError(f"no luck in {ctx.attempt}")')
        await expect(last).to_contain_text("ValueError: no luck in 2")
        attempts = page.locator("table.attempts")
        await expect(attempts.locator(".message .failure")).to_have_text(
            ["ValueError: no luck in 1", "ValueError: no luck in 2"]
        )
        await attempts.locator("summary").click()
        await expect(attempts.locator(".trace")).to_contain_text("ValueError: no luck in 1")
        log = page.locator(".log > div")
        await expect(log).to_have_text(["attempt 1 begins", "attempt 2 begins"])
        await page.get_by_role("button", name="Log of attempt 2").click()
        await expect(log).to_have_text(["attempt 2 begins"])
        await page.get_by_role("button", name="All attempts").click()
        await expect(log).to_have_count(2)
        assert complaints == []


async def test_timeline_is_in_the_language_of_the_reader(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app) as server:
        job = await app.enqueue("fail")
        async with app.worker():
            await job.wait(60)
        page, complaints = await opened(browser, f"{server.url}/#/jobs/{job.id}", locale="ko-KR")
        moments = page.locator(".timeline li span")
        await expect(moments).to_have_text(
            [
                "‘default’ 큐에 생성됨",
                "1번째 시도 시작",
                "1번째 시도 실패 (error): ValueError: the bank is closed",
                "실패",
            ]
        )
        await expect(page.locator(".live")).to_have_text(re.compile(r"^실시간, \d+초 전$"))
        await page.get_by_role("button", name="English").click()
        await expect(moments.nth(1)).to_have_text("attempt 1 started")
        # The worker has stopped in order: that is no alarm.
        await page.goto(f"{server.url}/#/instances")
        await expect(page.get_by_text("1 stopped in order")).to_be_visible()
        await expect(page.locator(".badge")).to_have_count(0)
        # It is no card beside those at work.
        async with app.worker():
            await expect(page.locator(".badge")).to_have_text("alive")
        assert complaints == []


async def test_reasons_are_in_the_language_of_the_reader(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app) as server:
        first = app.tasks.get("fail").call()
        cause, job = await app.enqueue_many([first, app.tasks.get("fail").call().set(after=[first])])
        await app.pause("default")
        page, complaints = await opened(browser, f"{server.url}/#/jobs/{job.id}", locale="ko-KR")
        reasons = page.locator(".why li")
        await expect(reasons).to_have_text(
            [
                f"다른 작업을 기다립니다: {cause.id[:8]}…{cause.id[-4:]}.",
                "큐 ‘default’이(가) 일시 정지되었습니다. 재개하세요.",
                "태스크 ‘fail’을(를) 등록한 살아 있는 워커가 없습니다. 워커를 시작하세요.",
            ]
        )
        # Refusals, too; they name the field once.
        refusal = page.get_by_role("alert")
        await page.goto(f"{server.url}/#/jobs?created_after=never")
        await expect(refusal).to_have_text(
            "입력이 올바르지 않습니다: created_after: 2027-01-31T09:00:00+09:00 같은 ISO-8601 시각이어야 합니다."
            " 받은 값: 'never'"
        )
        await page.get_by_role("button", name="English").click()
        await expect(refusal).to_contain_text(re.compile("^created_after: must be"))
        assert complaints == []


async def test_settings_are_in_the_language_of_the_reader(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app) as server:
        page, complaints = await opened(browser, f"{server.url}/#/settings", locale="ko-KR")
        lease = page.locator(".settings tr", has=page.get_by_text("lease", exact=True)).locator("small")
        await expect(lease).to_have_text("하트비트 없이 실행 권한(리스)이 유지되는 시간")
        await page.get_by_role("button", name="English").click()
        await expect(lease).to_have_text("How long a claim lasts without a heartbeat")
        assert complaints == []


async def test_queue_of_an_office_has_the_name_of_the_office(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app) as server:
        office = await app.offices.create(name="Seoul")
        page, _ = await opened(browser, f"{server.url}/#/queues")
        name = page.locator(f'[title="office:{office.id}"]')
        await expect(name).to_have_text("Seoul")


async def test_numbers_of_home_fit_on_a_phone(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app) as server:
        page, _ = await opened(browser, server.url, viewport=_PHONE)
        tiles = page.locator(".tiles .tile")
        await expect(tiles).to_have_count(5)
        boxes = [await tiles.nth(number).bounding_box() for number in range(2)]
        assert boxes[0] is not None
        assert boxes[1] is not None
        assert boxes[0]["y"] == boxes[1]["y"]
        assert await page.evaluate("document.documentElement.scrollWidth") == _PHONE["width"]


async def test_jobs_are_found_by_tokens_completed_while_typing(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app) as server:
        built_in = NewJob(id=new_id(), task="hanbeon.webhook", queue="mail", args="{}")
        own = NewJob(
            id=new_id(), task="send", queue="mail", args='{"to": "ada lovelace"}', meta='{"title": "Greet Ada"}'
        )
        other = NewJob(id=new_id(), task="send", queue="mail", args='{"to": "bob"}')
        await app.store.enqueue([built_in, own, other])
        await app.cancel(other.id)
        page, complaints = await opened(browser, f"{server.url}/#/jobs")
        # Jobs have the titles that users gave them; those of built-in tasks are there on demand.
        await expect(page.get_by_text("2 jobs shown")).to_be_visible()
        await expect(page.get_by_role("link", name="Greet Ada")).to_be_visible()
        await page.get_by_label("Built-in jobs, too").click()
        await expect(page.get_by_text("3 jobs shown")).to_be_visible()
        await page.get_by_label("Built-in jobs, too").click()
        box = page.get_by_role("combobox", name="Find jobs")
        await box.press_sequentially("stat")
        await page.get_by_role("option", name="state:").click()
        await box.press_sequentially("canc")
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(f"{server.url}/#/jobs?state=cancelled")
        await expect(page.get_by_text("1 job shown")).to_be_visible()
        await box.fill("queue:mail ada love")
        await box.press("Enter")
        await expect(page).to_have_url(f"{server.url}/#/jobs?queue=mail&text=ada+love")
        await expect(page.get_by_text("1 job shown")).to_be_visible()
        await box.fill("state:faild")
        await box.press("Enter")
        await expect(page.get_by_role("alert")).to_contain_text("faild is no state; there are pending")
        # A job leads back to the list by its name.
        await page.goto(f"{server.url}/#/jobs/{own.id}")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Greet Ada")
        await page.locator(".crumb").get_by_role("link", name="Jobs").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Jobs")
        assert complaints == []


async def test_home_says_what_is_paused_or_has_no_worker(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app) as server:
        await app.enqueue("fail", queue="nightly")
        await app.pause("nightly")
        page, complaints = await opened(browser, server.url)
        notice = page.get_by_role("status").filter(has_text="Waits for somebody")
        await expect(notice).to_contain_text("nightly is paused")
        await expect(notice).to_contain_text("fail No live worker serves it: 1 of the newest 1 ready jobs")
        await notice.get_by_role("button", name="Resume nightly").click()
        await expect(notice).not_to_contain_text("nightly is paused")
        async with app.worker():
            await expect(notice).to_have_count(0)
        assert complaints == []


async def test_an_office_and_a_chain_are_created_in_the_page(browser: Browser, sqlite_url: str) -> None:
    links = "All_logs=https://logs.example.org/?q={id}"
    async with App(sqlite_url, chain_libraries=LIBRARY, job_links=links) as app, serving(app) as server:
        page, complaints = await opened(browser, f"{server.url}/#/offices")
        await page.get_by_role("button", name="New office").click()
        await page.get_by_role("button", name="Create", exact=True).click()
        await expect(page.locator("label", has_text="Name").get_by_role("alert")).to_be_visible()
        await page.get_by_label("Name").fill("Seoul")
        await page.get_by_label("Jobs at once").fill("4")
        await page.get_by_role("button", name="Create", exact=True).click()
        await expect(page.locator(".crumb")).to_contain_text("Seoul")
        (office,) = (await app.offices.list()).items
        assert (office.name, (await app.offices.config(office.id)).config.maxConcurrentJobs) == ("Seoul", 4)
        await page.goto(f"{server.url}/#/chains")
        await page.get_by_role("button", name="New chain").click()
        await page.get_by_label("Library").fill(LIBRARY)
        await page.get_by_label("1. operation").fill("do")
        await page.get_by_label("1. undone by").fill("undo")
        await page.get_by_label("1. arguments (JSON)").fill("{")
        await expect(page.get_by_role("alert")).to_have_text("must be JSON; write texts in quotes")
        await page.get_by_label("1. arguments (JSON)").fill('{"seat": 1}')
        await page.get_by_role("button", name="Add a step").click()
        await page.get_by_label("2. operation").fill("do")
        await page.get_by_role("button", name="Create", exact=True).click()
        await expect(page).to_have_url(f"{server.url}/#/chains/1")
        first, second = (await app.chains.get(1)).jobs
        assert (first.forward_operation, first.backward_operation, first.arguments) == ("do", "undo", {"seat": 1})
        assert second.forward_operation == "do"
        # An installation links its jobs to other tools.
        job = NewJob(id=new_id(), task="send", queue="mail", args="{}")
        await app.store.enqueue([job])
        await page.goto(f"{server.url}/#/jobs/{job.id}")
        elsewhere = page.get_by_role("link", name="All logs")
        await expect(elsewhere).to_have_attribute("href", f"https://logs.example.org/?q={job.id}")
        assert complaints == []


async def test_a_failed_job_is_retried_and_marked_as_done(browser: Browser, sqlite_url: str) -> None:
    async with _app(sqlite_url) as app, serving(app, work=True) as server:
        job = await app.enqueue("fail")
        await job.wait(30)
        page, complaints = await opened(browser, f"{server.url}/#/jobs/{job.id}")
        done = page.get_by_role("button", name="Mark as done", exact=True)
        await expect(done).to_be_disabled()
        await page.get_by_role("textbox", name="Comment").fill("try the <b>other</b> branch")
        await page.get_by_role("button", name="Retry with this comment").click()
        await expect(page.locator(".timeline")).to_contain_text("retried by local: try the <b>other</b> branch")
        await job.wait(30)
        await page.get_by_role("textbox", name="Comment").fill("paid by hand")
        await done.click()
        await page.get_by_role("button", name="Sure?").click()
        await expect(page.locator(".timeline")).to_contain_text("marked as done by local: paid by hand")
        await expect(page.get_by_role("textbox", name="Comment")).to_have_count(0)
        assert (await job.record()).state.value == "succeeded"
        assert complaints == []
