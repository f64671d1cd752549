"""Commands in the pages use names and options that the program has."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from hanbeon.cli.program import program
from tests.docs.markdown import PAGES, blocks, name

_INLINE = re.compile(r"`(hanbeon [^`\n]+)`")


def _commands(page: Path) -> list[str]:
    lines = [line for block in blocks(page) if block.language == "sh" for line in block.text.splitlines()]
    return [*(line for line in lines if line.startswith("hanbeon ")), *_INLINE.findall(page.read_text())]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_in_pages_exist_with_their_options(page: Path) -> None:
    for line in _commands(page):
        _check(get_command(program), shlex.split(line, comments=True)[1:], line)


def _check(command: Any, words: list[str], line: str) -> None:
    while words and hasattr(command, "commands") and not words[0].startswith("-") and words[0] != "COMMAND":
        assert words[0] in command.commands, line
        command, words = command.commands[words[0]], words[1:]
    known = {"--help", "-h", *(option for each in command.params for option in (*each.opts, *each.secondary_opts))}
    for word in words:
        if word.startswith("-") and word != "-":
            assert word.partition("=")[0] in known, line
