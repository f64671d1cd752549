"""Architect: derives a plan from the stories."""

import json

from .report import done, read, step, work_folder


def main() -> None:
    folder = work_folder()
    spec = read(folder / "spec.json")
    step(40, f"Read {len(spec['stories'])} stories")
    plan = {
        "title": spec["title"],
        "fields": spec["fields"],
        "page": "site/index.html",
        "server": "site/server.py",
        "entries": "/api/entries",
    }
    step(80, f"A page, and a server with {plan['entries']}")
    (folder / "plan.json").write_text(json.dumps(plan, indent=2), encoding="utf-8")
    done({"files": [plan["page"], plan["server"]]})


if __name__ == "__main__":
    main()
