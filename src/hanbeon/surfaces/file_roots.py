"""The folders of uploaded and of exported files."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from hanbeon.settings import Settings

_FILES = "hanbeon-files"


def export_root(settings: Settings) -> Path:
    """The folder below which exported files are."""
    return _root(settings, settings.jobs_export_path, "exports")


def replay_root(settings: Settings) -> Path:
    """The folder of uploaded replays."""
    return _root(settings, settings.replay_path, "replays")


def _root(settings: Settings, chosen: str | None, kind: str) -> Path:
    if chosen is not None:
        return Path(chosen).absolute()
    parts = urlsplit(settings.database_url)
    if parts.scheme == "sqlite":
        return Path(f"{unquote(parts.path.removeprefix('/'))}-files", kind).absolute()
    return Path(_FILES, kind).absolute()


def made(root: Path) -> Path:
    """Return the folder, which others on this machine cannot read if it is made now."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    return root
