"""Pages of the dashboard in a browser, and what they complain about."""

from typing import Any

from playwright.async_api import Browser, Page

PATIENT_MS = 60_000


async def opened(browser: Browser, url: str, **options: Any) -> tuple[Page, list[str]]:
    """A page, and what it complains about; that a request was refused is no complaint."""
    given = {"locale": "en-GB", "color_scheme": "light", "viewport": {"width": 1440, "height": 900}, **options}
    context = await browser.new_context(**given)
    page = await context.new_page()
    page.set_default_timeout(PATIENT_MS)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda each: complaints.append(each.text) if _is_complaint(each) else None)
    await page.goto(url)
    return page, complaints


def _is_complaint(message: Any) -> bool:
    return message.type == "error" and "Failed to load resource" not in message.text and "WebSocket" not in message.text
