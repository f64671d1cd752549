"""The report on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table as RichTable

from bench.records import Results
from bench.report.aims import HEAD, rows
from bench.scenario import Scenario, Table


def show(results: Results, scenarios: Sequence[Scenario]) -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)  # A file can be scrolled; a name that is cut off is lost.
    measured = [scenario for scenario in scenarios if results.subjects(scenario.name)]
    for scenario in measured:
        for table in scenario.tables(results):
            _print(console, table)
    aims = rows([aim for scenario in measured for aim in scenario.aims(results)])
    if aims:
        _print(console, Table("Aims", HEAD, aims))


def _print(console: Console, table: Table) -> None:
    drawn = RichTable(title=table.title, title_justify="left")
    for number, name in enumerate(table.head):
        drawn.add_column(name, justify="left" if number == 0 else "right", no_wrap=number == 0)
    for row in table.rows:
        drawn.add_row(*row)
    console.print(drawn)
    for note in table.notes:
        console.print(note, style="dim", highlight=False)
