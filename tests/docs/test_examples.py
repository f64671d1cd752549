"""The examples run as written, and the pages show their current text."""

import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.cli.hanbeon import EXAMPLES, environment, hanbeon
from tests.cli.workers import Running
from tests.docs.markdown import PAGES, ROOT, Block, blocks, name

_OUTPUT = {
    "quickstart.py": "Hello, Ada! (attempt 1)\nHello, Grace! (attempt 2)",
    "release.py": "tests done",
    "payment.py": "[1, 100]",
}
_WITH_SOURCE = [block for page in PAGES for block in blocks(page) if block.source is not None]


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
        env=environment(),
    )
    assert done.returncode == 0, done.stderr
    # Some examples fail their first attempt on purpose, which logs its traceback; nothing else may be logged.
    assert done.stderr == "" or done.stderr.startswith("task_raised"), done.stderr
    assert set(_OUTPUT[example.name].splitlines()) <= set(done.stdout.splitlines())


def test_example_without_python_runs(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "without_python" / "hanbeon.toml", tmp_path)
    for command in (("migrate",), ("config", "check"), ("tasks",)):
        done = hanbeon(*command, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
    with Running("worker", cwd=tmp_path) as worker:
        worker.until("worker_started")
        made = hanbeon("enqueue", "--wait", "greet", "name=Ada", cwd=tmp_path)
        assert (made.returncode, made.stdout, made.stderr) == (0, '"Hello, Ada!"\n', "")
    refused = hanbeon("enqueue", "backup", "name=../x", cwd=tmp_path)
    assert refused.returncode == 2
    assert "must match '[a-z0-9-]+' as a whole, got '../x'" in refused.stderr


@pytest.mark.parametrize("readme", ["README.md", "README.ko.md"])
def test_readme_shows_the_example_without_python(readme: str) -> None:
    (shown,) = [block.text for block in blocks(ROOT / readme) if block.language == "toml"]
    assert shown == (EXAMPLES / "without_python" / "hanbeon.toml").read_text()


@pytest.mark.parametrize("block", _WITH_SOURCE, ids=lambda block: f"{name(block.page)}:{block.source}")
def test_block_that_names_a_file_is_part_of_it(block: Block) -> None:
    text = (ROOT / str(block.source)).read_text()
    assert any(textwrap.indent(block.text, " " * depth) in text for depth in (0, 4, 8)), f"not in {block.source}"


@pytest.mark.parametrize("readme", ["README.md", "README.ko.md"])
def test_readme_shows_the_quickstart_and_its_output(readme: str) -> None:
    shown = blocks(ROOT / readme)
    (quickstart,) = [block.text for block in shown if block.source == "examples/quickstart.py"]
    assert quickstart == (EXAMPLES / "quickstart.py").read_text()
    assert f"{_OUTPUT['quickstart.py']}\n" in [block.text for block in shown if block.language == "text"]


def test_both_readmes_show_the_same_code() -> None:
    english, korean = (
        [block.text for block in blocks(ROOT / readme) if block.language in ("python", "toml")]
        for readme in ("README.md", "README.ko.md")
    )
    assert english == korean
