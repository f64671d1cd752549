"""The setting `job_links`: links from a job to other tools."""

from __future__ import annotations

import pytest

from hanbeon import App
from hanbeon.errors import InvalidInput
from hanbeon.settings import load_settings

_LINKS = "Sentry=https://sentry.example.org/?query={id}&task={task} All_logs=http://127.0.0.1:3000/{queue}/{attempt}"


async def test_a_job_has_links_with_its_values_encoded(database_url: str) -> None:
    async with App(database_url, job_links=_LINKS) as app:

        @app.task(name="a/b?c=d&é")
        async def odd() -> None: ...

        job = await app.enqueue("a/b?c=d&é", queue="../x")
        detail = await app.engine.job(job.id)
        assert [(each.name, each.url) for each in detail.links] == [
            ("Sentry", f"https://sentry.example.org/?query={job.id}&task=a%2Fb%3Fc%3Dd%26%C3%A9"),
            ("All logs", "http://127.0.0.1:3000/..%2Fx/0"),
        ]
    async with App(database_url) as app:
        assert (await app.engine.job(job.id)).links == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("javascript:alert(1)", "must be links like Logs="),
        ("Logs=javascript:alert(1)", "use http:// or https:// with a host"),
        ("Logs=ftp://example.org/{id}", "use http:// or https:// with a host"),
        ("Logs=https://", "use http:// or https:// with a host"),
        ("Logs=https://user@example.org/{id}", "use http:// or https:// with a host"),
        ("Logs=https://example.org/{args}", "must have none but id, task, queue, role, attempt, work_item in braces"),
        ("Logs=https://{task}.example.org/", "none in the host"),
        ("Logs=https://example.org/{id", "in braces"),
    ],
)
def test_links_that_could_lead_anywhere_are_refused(text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match="job_links") as refused:
        load_settings(job_links=text)
    assert said in str(refused.value)
