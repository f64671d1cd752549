"""`hanbeon init`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_PYTHON = """wrote {path}: an App with one task

Next, in two terminals{where}:
  hanbeon worker --app {target}
  hanbeon enqueue --app {target} --wait greet name=Ada

and then:
  hanbeon jobs      # what there is
  hanbeon top       # what happens; q ends it
  hanbeon --help    # the rest"""

_TOML = """wrote {path}: settings, one task and one queue

Next, in two terminals{where}:
  hanbeon worker{option}
  hanbeon enqueue{option} --wait greet name=Ada

and then:
  hanbeon config check{option}    # after you have changed the file
  hanbeon jobs{option}            # what there is
  hanbeon top{option}             # what happens; q ends it
  hanbeon --help{pad}          # the rest"""


def init(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write: a Python module, or a .toml without Python.")
    ] = Path("jobs.py"),
) -> None:
    """Write a starter App, or a starter hanbeon.toml, and say what to do next. No file is ever overwritten."""
    from hanbeon.errors import Conflict, InvalidInput, NotFound

    is_toml = path.suffix == ".toml"
    if not is_toml:
        _check_name(path)
    text = Path(__file__).with_name("starter.toml" if is_toml else "starter.py").read_text()
    try:
        with path.open("x") as file:
            file.write(text)
    except FileExistsError as error:
        raise Conflict(f"{path} is there already; name another file: hanbeon init other{path.suffix}") from error
    except FileNotFoundError as error:
        raise NotFound(f"there is no folder {path.parent}; make it first") from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}", field="file") from error
    where = "" if path.parent == Path() else f", in {path.parent}"
    option = "" if path.name == "hanbeon.toml" else f" --config {path.name}"
    words = (_TOML if is_toml else _PYTHON).format(
        path=path, target=f"{path.stem}:app", where=where, option=option, pad=" " * len(option)
    )
    typer.echo(words)


def _check_name(path: Path) -> None:
    """It must be a module that can be imported, and that hides no other."""
    import importlib.util

    from hanbeon.errors import InvalidInput

    if path.suffix != ".py" or not path.stem.isidentifier():
        raise InvalidInput(
            f"{path.name!r} is not the name of a Python module; use one like jobs.py, or hanbeon.toml", field="file"
        )
    if not path.exists() and importlib.util.find_spec(path.stem) is not None:
        raise InvalidInput(f"Python has a module {path.stem!r} already; use another name", field="file")
