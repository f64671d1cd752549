"""Screenshots of every page of the dashboard, light and dark, in English and Korean: `python -m tools.screenshots`.

Without `--url` it starts the showcase and waits until it has something to show. `--keep FOLDER` also writes the chosen
pictures of the README, with few colours, so that they stay small.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.async_api import Browser, Page, ViewportSize, async_playwright

ROOT = Path(__file__).parents[1]
FONT = ROOT / "src/hanbeon/surfaces/exports/rendering/fonts/hanbeon-gothic.otf"
KEPT = {
    "home": "light-en",
    "jobs": "dark-en",
    "job": "light-en",
    "office": "light-en",
    "schedules": "light-ko",
    "chain": "dark-en",
    "workflow": "light-ko",
    "exports": "dark-ko",
}
"""The pictures of the README: pages, each in one theme and language."""
_LANGUAGES = {"en": "en-GB", "ko": "ko-KR"}
_SIZE = ViewportSize(width=1280, height=800)
_DETAILS = {"jobs": "job", "offices": "office", "schedules": "schedule", "chains": "chain", "workflows": "workflow"}
_SHOWN_TASK = "count-stock"
_SECONDS = 180.0
_FEW_PENDING = 3
_COLOURS = 256
_KEPT_BYTES = 100_000


def main() -> None:
    parser = argparse.ArgumentParser(description="Make screenshots of every page of the dashboard.")
    parser.add_argument("--url", help="a server that runs already")
    parser.add_argument("--out", type=Path, default=ROOT / "build/screenshots")
    parser.add_argument("--keep", type=Path, help="where to put the pictures of the README")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        os.environ["XDG_DATA_HOME"] = stack.enter_context(_fonts())
        url = given.url or stack.enter_context(_showcase())
        asyncio.run(_shoot(url.rstrip("/"), given.out))
    if given.keep is not None:
        _keep(given.out, given.keep)
    print(f"{len(list(given.out.glob('*.png')))} screenshots are in {given.out}")


@contextlib.contextmanager
def _fonts() -> Iterator[str]:
    """A folder with the Korean font of the package, for machines that have none."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "fonts").mkdir()
        shutil.copy(FONT, Path(folder) / "fonts")
        yield folder


@contextlib.contextmanager
def _showcase() -> Iterator[str]:
    program = [sys.executable, str(ROOT / "examples/showcase/showcase.py"), "--port", "0"]
    with subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            url = next(json.loads(line)["url"] for line in process.stderr if '"server_started"' in line)
            reader = subprocess.DEVNULL  # Its log is of no interest here; an unread pipe would stop it.
            drain = subprocess.Popen(["cat"], stdin=process.stderr, stdout=reader)
            _wait_for_results(url)
            yield url
            process.terminate()
            process.wait(60)
            drain.wait(60)
        finally:
            process.kill()


def _wait_for_results(url: str) -> None:
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        with urllib.request.urlopen(f"{url}/api/jobs?status=SUCCEEDED", timeout=60) as answer:
            if json.load(answer)["total"] >= len(("MP4", "THUMBNAIL")):
                return
        time.sleep(1)


async def _shoot(url: str, out: Path) -> None:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        for theme in ("light", "dark"):
            for language, locale in _LANGUAGES.items():
                await _shoot_all(browser, url, out, theme, language, locale)
        await browser.close()


async def _shoot_all(browser: Browser, url: str, out: Path, theme: Any, language: str, locale: str) -> None:
    context = await browser.new_context(
        color_scheme=theme,
        locale=locale,
        viewport=_SIZE,
        timezone_id="Asia/Seoul",
    )
    page = await context.new_page()
    await page.goto(url)
    await page.locator("nav a").first.wait_for()
    hashes = await page.locator("nav a[href^='#/']").evaluate_all("(all) => all.map((each) => each.hash)")
    # The navigation has this page once it knows that there is something on it.
    for place in dict.fromkeys([*hashes, "#/exports"]):
        name = place.removeprefix("#/") or "home"
        await _settle(page, f"{url}/{place}")
        await page.screenshot(path=out / f"{name}-{theme}-{language}.png")
        if name == "offices" and KEPT["office"] == f"{theme}-{language}":
            await _until_at_work(page, url)
        detail = await _first_detail(page, name)
        if detail is not None:
            await _settle(page, f"{url}/{detail}")
            await page.screenshot(path=out / f"{_DETAILS[name]}-{theme}-{language}.png")
    await page.goto(f"{url}/docs")
    await page.locator("details").first.wait_for()
    await page.screenshot(path=out / f"docs-{theme}-{language}.png")
    await context.close()


async def _settle(page: Page, address: str) -> None:
    await page.goto(address)
    await page.locator("main .skeleton").first.wait_for(state="detached")
    await page.wait_for_timeout(1_500)  # Charts and pictures draw themselves a moment later.


async def _until_at_work(page: Page, url: str) -> None:
    """Wait for the next round of the showcase: an office where nothing runs says little."""
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        for office in (await (await page.request.get(f"{url}/api/offices")).json())["items"]:
            stats = await (await page.request.get(f"{url}/api/offices/{office['id']}/scheduler/stats")).json()
            # Its first two roles have no limit: with more jobs done, the slots are in use.
            if stats["processing"] and stats["pending"] and stats["pending"] < _FEW_PENDING:
                return
        await page.wait_for_timeout(500)


async def _first_detail(page: Page, name: str) -> str | None:
    if name not in _DETAILS:
        return None
    links = await page.locator(f"main a[href^='#/{name}/']").evaluate_all(
        "(all) => all.map((each) => [each.hash, each.textContent])"
    )
    found = [link for link in links if re.fullmatch(rf"#/{name}/[^/]+", link[0]) and not link[0].endswith("/new")]
    # A job with a log and progress says more than the newest one.
    found.sort(key=lambda link: link[1] != _SHOWN_TASK)
    if not found:
        return None
    return f"{found[0][0]}{await _work_item(page, found[0][0])}" if name == "offices" else found[0][0]


async def _work_item(page: Page, place: str) -> str:
    """The filter for the work item under way, or else the last one: a graph of few jobs."""
    base = f"{page.url.partition('#')[0]}api/offices/{place.rpartition('/')[2]}/jobs?limit=1000"
    for status in ("&status=processing", ""):
        items = (await (await page.request.get(base + status)).json())["items"]
        if items:
            return f"?task_id={items[-1]['task_id']}"
    return ""


def _keep(out: Path, folder: Path) -> None:
    """Copy the chosen ones, with as many colours as a hundred kilobytes hold."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, kind in KEPT.items():
        source = out / f"{name}-{kind}.png"
        if not source.exists():
            continue
        picture, colours = Image.open(source).convert("RGB"), _COLOURS
        while True:
            buffer = io.BytesIO()
            picture.quantize(colours, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
                buffer, "PNG", optimize=True
            )
            if buffer.tell() < _KEPT_BYTES or colours <= 8:
                break
            colours //= 2
        (folder / f"{name}.png").write_bytes(buffer.getvalue())


if __name__ == "__main__":
    main()
