"""`hanbeon init`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hanbeon.rule import Rule

_PYTHON = """wrote {path}: an App with one task

Next, in two terminals{where}:
  hanbeon worker --app {target}
  hanbeon enqueue --app {target} --wait greet name=Ada

and then:
  hanbeon jobs      # list jobs
  hanbeon top       # watch them run; q quits
  hanbeon --help    # all commands"""

_TOML = """wrote {path}: settings, one task and one queue

Next, in two terminals{where}:
  hanbeon worker{option}
  hanbeon enqueue{option} --wait greet name=Ada

and then:
  hanbeon config check{option}    # after every change of the file
  hanbeon jobs{option}            # list jobs
  hanbeon top{option}             # watch them run; q quits
  hanbeon --help{pad}          # all commands"""


def init(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write: a Python module, or a .toml file.")
    ] = Path("jobs.py"),
) -> None:
    """Write a starter App or a starter hanbeon.toml, and print the next steps. Existing files are never overwritten."""
    from hanbeon.cli.location import settings_here
    from hanbeon.errors import Conflict, InvalidInput, NotFound
    from hanbeon.zones import host_zone

    is_toml = path.suffix == ".toml"
    if not is_toml:
        _check_name(path)
    text = Path(__file__).with_name("starter.toml" if is_toml else "starter.py").read_text()
    text = text.replace("{timezone}", host_zone() or settings_here().timezone)
    try:
        with path.open("x") as file:
            file.write(text)
    except FileExistsError as error:
        raise Conflict(Rule("file_exists_init", path=path, suffix=path.suffix)) from error
    except FileNotFoundError as error:
        raise NotFound(Rule("no_folder", path=path.parent)) from error
    except OSError as error:
        raise InvalidInput(Rule("cannot_be_written", path=path, error=error.strerror), field="file") from error
    where = "" if path.parent == Path() else f", in {path.parent}"
    option = "" if path.name == "hanbeon.toml" else f" --config {path.name}"
    text = (_TOML if is_toml else _PYTHON).format(
        path=path, target=f"{path.stem}:app", where=where, option=option, pad=" " * len(option)
    )
    typer.echo(text)


def _check_name(path: Path) -> None:
    """Reject a name that cannot be imported, or that would shadow another module."""
    import importlib.util

    from hanbeon.errors import InvalidInput

    if path.suffix != ".py" or not path.stem.isidentifier():
        raise InvalidInput(Rule("must_be", what=Rule("starter_file"), got=repr(path.name)), field="file")
    if not path.exists() and importlib.util.find_spec(path.stem) is not None:
        raise InvalidInput(Rule("module_exists", module=repr(path.stem)), field="file")
