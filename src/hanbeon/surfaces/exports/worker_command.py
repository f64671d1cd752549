"""`hanbeon export-worker`"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated

import typer

from hanbeon.rule import Rule
from hanbeon.surfaces.exports.jobs import JobType

if TYPE_CHECKING:
    from hanbeon.settings import Settings


def export_worker(
    redis: Annotated[
        str | None,
        typer.Option(
            "--redis",
            metavar="URL",
            help="redis://host:6379/0; by default $HANBEON_REDIS_URL, or `redis_url` in hanbeon.toml.",
            show_default=False,
        ),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="The most exports to render at once; by default `export_concurrency`.", min=1, max=1_000
        ),
    ] = None,
    types: Annotated[
        list[JobType] | None,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="Render only MP4 or only THUMBNAIL, and leave the others to other workers; by default both.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Render exports that come over Redis until SIGTERM or Ctrl-C. A second signal leaves them to other workers.

    It does not open the database. It must see the folders of replays and of exports at the same paths as the server:
    `replay_path` and `jobs_export_path`. Without Redis, `hanbeon serve` and `hanbeon worker` render exports themselves.
    """
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.location import settings_here
    from hanbeon.cli.logs import log_to_stderr
    from hanbeon.errors import InvalidInput
    from hanbeon.surfaces.exports.rendering.libraries import check_installed

    log_to_stderr()
    settings = settings_here(redis_url=redis, export_concurrency=concurrency)
    if settings.redis_url is None:
        raise InvalidInput(
            Rule("redis_required"),
            field="redis_url",
        )
    check_installed()
    run(_work(settings, settings.redis_url, types or tuple(JobType)))


async def _work(settings: Settings, url: str, types: Collection[JobType]) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from hanbeon.stream_worker import StreamWorker
    from hanbeon.surfaces.exports.stream_call import STREAM_NAME
    from hanbeon.surfaces.exports.stream_works import stream_works

    with ThreadPoolExecutor(settings.export_concurrency, "hanbeon-render") as pool:
        works = stream_works(settings, pool, types)
        worker = StreamWorker(url, STREAM_NAME, works, concurrency=settings.export_concurrency)
        await worker.run(grace=settings.shutdown_grace)
