"""Paths of results: nothing but a plain file below the root is opened."""

import os
from pathlib import Path

import pytest

from hanbeon.errors import InvalidOutputPath
from hanbeon.surfaces.exports.paths import Missing, open_below


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a file, a way out through a link, and things that are no files."""
    root = tmp_path / "root"
    (root / "job").mkdir(parents=True)
    (root / "job/1.mp4").write_bytes(b"video")
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "rootless").mkdir()
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "job/up").symlink_to(tmp_path)
    (root / "inside").symlink_to(root / "job/1.mp4")
    os.mkfifo(root / "pipe")
    (root / "．．").mkdir()
    (root / "．．/secret").write_bytes(b"x")
    return root


def test_opens_a_file_below_the_root(root: Path) -> None:
    with open_below(root, f"{root}/job/1.mp4") as file:
        assert file.read() == b"video"
    with pytest.raises(Missing):
        open_below(root, f"{root}/job/2.mp4")
    with pytest.raises(Missing):
        open_below(root / "gone", f"{root}/gone/1.mp4")


@pytest.mark.parametrize(
    "path",
    [
        "{root}/../secret",
        "{root}/job/../../secret",
        "{root}/./job/1.mp4",
        "{root}//job/1.mp4",
        "{root}/job/1.mp4/",
        "{root}",
        "{root}/",
        "{root}less/1.mp4",
        "/etc/passwd",
        "job/1.mp4",
        "",
        "{root}/link",
        "{root}/inside",
        "{root}/job/up/secret",
        "{root}/job",
        "{root}/pipe",
        "{root}/job/1.mp4\0",
        "{root}/\0",
        "{root}/．．/secret",
        "{root}/․․/secret",
        "{root}/job／1.mp4",
        "{root}/job\\1.mp4",
        "{root}/\ud800",
        "file://{root}/job/1.mp4",
        "{root}/" + "a" * 300,
        "{root}/" + "a/" * 3_000 + "b",
    ],
    ids=lambda path: ascii(path)[:40],
)
def test_refuses_hostile_path(root: Path, path: str) -> None:
    with pytest.raises(InvalidOutputPath):
        open_below(root, path.replace("{root}", str(root)))
