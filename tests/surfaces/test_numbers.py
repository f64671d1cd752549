"""Numbers in paths: each thing has one address, and any other spelling of its number names nothing."""

from pathlib import Path
from urllib.parse import quote

import pytest

from hanbeon import App
from hanbeon.surfaces.numbers import number_of
from tests.server.client import serving
from tests.surfaces.exports.export_kit import exported, uploaded

_SPELLINGS = ["01", "001", "+1", "-1", " 1", "1 ", "1_0", "1.0", "0x1", "1e0", "１", "१", "1\n", "٠١", ""]


@pytest.mark.parametrize("text", [*_SPELLINGS, "9223372036854775808", "1" * 20, True, 1.0, None, -1, 2**63, b"1"])
def test_number_has_one_spelling(text: object) -> None:
    assert number_of(text) is None


@pytest.mark.parametrize("number", [0, 1, 10, 2**63 - 1])
def test_number_is_read_as_it_is_written(number: int) -> None:
    assert number_of(number) == number_of(str(number)) == number


async def test_other_spellings_of_a_number_are_unknown(sqlite_url: str, tmp_path: Path) -> None:
    folders = {"replay_path": str(tmp_path / "r"), "jobs_export_path": str(tmp_path / "e")}
    async with App(sqlite_url, **folders) as app, serving(app) as server:  # type: ignore[arg-type]
        job = await exported(server, await uploaded(server))
        assert job == 1
        chain = (await server.post("/api/chains", {"jobs": [{}]})).json["queue_id"]
        assert chain == 1
        await server.post("/api/chains/1/run")
        for text in filter(None, _SPELLINGS):
            number = quote(text, safe="")
            for method, path in [
                ("GET", f"/api/jobs/{number}"),
                ("GET", f"/api/jobs/{number}/result"),
                ("POST", f"/api/jobs/{number}/cancel"),
                ("GET", f"/api/replays/{number}"),
                ("DELETE", f"/api/replays/{number}"),
                ("POST", f"/api/replays/{number}/exports/mp4"),
                ("GET", f"/api/chains/{number}"),
                ("DELETE", f"/api/chains/{number}"),
                ("POST", f"/api/chains/{number}/run"),
                ("GET", f"/api/chains/1/runs/{number}"),
                ("DELETE", f"/api/engine/tokens/{number}"),
                ("POST", f"/api/engine/instances/{number}/drain"),
            ]:
                answer = await server.ask(method, path, {} if method == "POST" else None)
                assert answer.status == 404, (method, path, answer)
