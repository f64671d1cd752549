"""The report in `docs/benchmarks.md`: replaces the text between the markers and keeps the prose around it."""

from __future__ import annotations

from collections.abc import Sequence

from bench.records import ROOT, Results
from bench.report.aims import HEAD, rows
from bench.scenario import Scenario, Table

PAGE = ROOT / "docs" / "benchmarks.md"
BEGIN, END = "<!-- results: written by `make bench ARGS=--write` -->", "<!-- end of results -->"


def write(results: Results, scenarios: Sequence[Scenario]) -> None:
    PAGE.write_text(replaced(PAGE.read_text(), render(results, scenarios)))


def replaced(page: str, report: str) -> str:
    """Return the page with the new report in place of the old one."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE.name} has lost its markers: {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{report}\n\n{END}{after}"


def render(results: Results, scenarios: Sequence[Scenario]) -> str:
    measured = [scenario for scenario in scenarios if results.subjects(scenario.name)]
    aims = rows([aim for scenario in measured for aim in scenario.aims(results)])
    tables = [table for scenario in measured for table in scenario.tables(results)]
    if aims:
        tables.insert(0, Table("Aims", HEAD, aims))
    return "\n\n".join([*(_table(table) for table in tables), _failures(results), _circumstances(results)]).strip()


def _table(table: Table) -> str:
    lines = [f"### {table.title}", "", *_grid(table.head, table.rows)]
    for note in table.notes:
        lines += ["", note]
    return "\n".join(lines)


def _grid(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    rule = ["---:" if number and name else "---" for number, name in enumerate(head)]
    return [_line(head), _line(rule), *(_line(row) for row in body)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _failures(results: Results) -> str:
    """List the failed subjects without their messages, which contain paths; the stored results have them."""
    failed = sorted({f"{record.subject} ({record.scenario})" for record in results.records if record.error is not None})
    return f"Could not be measured: {', '.join(failed)}." if failed else "Nothing failed."


def _circumstances(results: Results) -> str:
    context = results.context
    reps = max((record.rep for record in results.records), default=0)
    idle = sorted(record.idle for record in results.records if record.at and record.error is None)
    facts = {
        "date": context.began_at,
        "command": f"`{context.command}`",
        "repetitions": str(reps),
        "idle before a measurement": f"{idle[0]:.0%} to {idle[-1]:.0%}" if idle else "–",
        **context.machine,
    }
    return "\n".join(
        [
            "### Machine and versions",
            "",
            *_grid(("", ""), [[name, fact] for name, fact in facts.items()]),
            "",
            ", ".join(f"{name} {version}" for name, version in context.versions.items()) + ".",
        ]
    )
