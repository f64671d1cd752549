"""Writes `examples/replay.jsonl`: a lively match of twenty seconds, the same every time."""

from __future__ import annotations

import itertools
import json
import math
import random
import sys
from pathlib import Path

WIDTH, HEIGHT, SECONDS, RATE = 105.0, 68.0, 20, 5
TEAMS = [("home", "한강 유나이티드", "#d43d3d"), ("away", "남산 FC", "#2d6fd4")]
NAMES = {
    "home": ["김도윤", "이서준", "박하준", "최은우", "정시우", "강지호"],
    "away": ["윤지안", "임수호", "한유찬", "오선우", "서이준", "신우진"],
}
EVENTS: list[tuple[int, dict[str, object]]] = [
    (400, {"event": "kickoff", "text": "경기 시작 · Kick-off"}),
    (5_200, {"event": "shot", "team": "home", "actor": "h4", "text": "최은우의 강력한 슈팅!"}),
    (6_000, {"event": "goal", "team": "home", "actor": "h4", "text": "골! 최은우, 1:0", "score": {"home": 1}}),
    (11_400, {"event": "save", "team": "home", "actor": "h1", "text": "김도윤의 선방"}),
    (14_600, {"event": "goal", "team": "away", "actor": "a3", "text": "동점골! 한유찬", "score": {"away": 1}}),
    (18_000, {"event": "goal", "team": "home", "actor": "h6", "text": "역전골! 강지호", "score": {"home": 2}}),
]
BALL = [(0, 52, 34), (3, 70, 20), (5, 84, 30), (6, 105, 34), (8, 52, 34), (11, 14, 38), (13, 30, 50), (14.6, 0, 35)]
BALL += [(16, 52, 34), (17, 80, 44), (18, 105, 33), (20, 100, 36)]


def lines() -> list[dict[str, object]]:
    chance = random.Random(17)
    actors: list[dict[str, object]] = [
        {"id": f"{team[0]}{number}", "team": team, "name": name, "number": number}
        for team, names in NAMES.items()
        for number, name in enumerate(names, start=1)
    ]
    homes = {str(actor["id"]): _home(actor) for actor in actors}
    phases = {actor: (chance.random() * 6.3, chance.uniform(0.7, 1.5)) for actor in homes}
    header = {
        "format": "hanbeon-replay",
        "version": 1,
        "title": "한번 컵 결승",
        "field": {"width": WIDTH, "height": HEIGHT},
        "teams": [{"id": team, "name": name, "color": color} for team, name, color in TEAMS],
        "actors": [*actors, {"id": "ball"}],
    }
    records: list[dict[str, object]] = []
    for step in range(SECONDS * RATE + 1):
        t = step / RATE
        ball = _ball(t)
        positions = {actor: _player(t, home, *phases[actor], ball) for actor, home in homes.items()}
        records.append({"t": round(t * 1_000), "p": {**positions, "ball": [round(each, 1) for each in ball]}})
    records += [{"t": t, **event} for t, event in EVENTS]
    records.sort(key=lambda record: int(str(record["t"])))
    return [header, *records, {"t": SECONDS * 1_000, "end": True}]


def _home(actor: dict[str, object]) -> tuple[float, float]:
    number = int(str(actor["number"]))
    x = (6.0, 22.0, 24.0, 44.0, 40.0, 48.0)[number - 1]
    y = (34.0, 18.0, 50.0, 34.0, 12.0, 56.0)[number - 1]
    return (x, y) if actor["team"] == "home" else (WIDTH - x, HEIGHT - y)


def _ball(t: float) -> tuple[float, float]:
    for (t0, x0, y0), (t1, x1, y1) in itertools.pairwise(BALL):
        if t0 <= t <= t1:
            share = (t - t0) / (t1 - t0)
            share = share * share * (3 - 2 * share)
            return x0 + (x1 - x0) * share, y0 + (y1 - y0) * share
    return BALL[-1][1], BALL[-1][2]


def _player(t: float, home: tuple[float, float], phase: float, speed: float, ball: tuple[float, float]) -> list[float]:
    pull = 0.12 if home[0] in (6.0, WIDTH - 6.0) else 0.45
    x = home[0] + (ball[0] - home[0]) * pull + 3 * math.sin(t * speed + phase)
    y = home[1] + (ball[1] - home[1]) * pull + 3 * math.cos(t * speed * 1.3 + phase)
    return [round(min(WIDTH, max(0, x)), 1), round(min(HEIGHT, max(0, y)), 1)]


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text("".join(f"{json.dumps(line, ensure_ascii=False, separators=(',', ':'))}\n" for line in lines()))
