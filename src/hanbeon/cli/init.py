"""`hanbeon init`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_NEXT = """wrote {path}: an App with one task

Next, in two terminals{where}:
  hanbeon worker --app {target}
  hanbeon enqueue --app {target} --wait greet name=Ada

and then:
  hanbeon jobs      # what there is
  hanbeon top       # what happens; q ends it
  hanbeon --help    # the rest"""


def init(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")] = Path("jobs.py"),
) -> None:
    """Write a starter App and say what to do next. A file that is there is never overwritten."""
    from hanbeon.errors import Conflict, InvalidInput, NotFound

    _check_name(path)
    text = Path(__file__).with_name("starter.py").read_text()
    try:
        with path.open("x") as file:
            file.write(text)
    except FileExistsError as error:
        raise Conflict(f"{path} is there already; name another file: hanbeon init other.py") from error
    except FileNotFoundError as error:
        raise NotFound(f"there is no folder {path.parent}; make it first") from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}", field="file") from error
    where = "" if path.parent == Path() else f", in {path.parent}"
    typer.echo(_NEXT.format(path=path, target=f"{path.stem}:app", where=where))


def _check_name(path: Path) -> None:
    """It must be a module that can be imported, and that hides no other."""
    import importlib.util

    from hanbeon.errors import InvalidInput

    if path.suffix != ".py" or not path.stem.isidentifier():
        raise InvalidInput(f"{path.name!r} is not the name of a Python module; use one like jobs.py", field="file")
    if not path.exists() and importlib.util.find_spec(path.stem) is not None:
        raise InvalidInput(f"Python has a module {path.stem!r} already; use another name", field="file")
