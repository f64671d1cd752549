"""`connect`: one installation, whether its database or a server in front of it is reached."""

from __future__ import annotations

from typing import Any

from hanbeon.surfaces.installation import Installation


def connect(url: str, **options: Any) -> Installation:
    """Return the installation at a URL: `async with connect(url) as jobs: await jobs.engine.job(id)`.

    sqlite:/// and postgresql:// lead to a database, and `options` are settings of its App. http:// and https:// lead to
    a server, and `options` are those of a client: `token`, `timeout`, `retry_for`, `verify`.
    """
    if url.startswith(("http://", "https://")):
        from hanbeon.client.installation import RemoteInstallation

        return RemoteInstallation(url, **options)
    from hanbeon.app import App

    return App(url, **options)
