"""Accessibility of a page, checked by axe."""

import json

from playwright.async_api import Page

from tests.docs.markdown import ROOT

_AXE = ROOT / "dashboard" / "node_modules" / "axe-core" / "axe.min.js"
_SERIOUS = ("serious", "critical")
_ORDER = ("empty-table-header", "heading-order")
"""Rules that count although axe takes their violations for minor or moderate."""
OPTIONS = {"bypass_csp": True}
"""Options of a browser in which axe can be loaded."""


async def serious_violations(page: Page) -> list[tuple[str, str, str]]:
    """The rule, the element and the remedy of each serious violation."""
    await page.add_script_tag(path=_AXE)
    found = await page.evaluate("axe.run().then((all) => JSON.stringify(all.violations))")
    return [
        (each["id"], node["html"], node["failureSummary"])
        for each in json.loads(found)
        if each["impact"] in _SERIOUS or each["id"] in _ORDER
        for node in each["nodes"]
    ]
