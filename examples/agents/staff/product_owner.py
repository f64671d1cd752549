"""PO: writes down what is wanted, as stories."""

import json

from .report import arguments, desk, done, step


def main() -> None:
    asked, folder = arguments(), desk()
    title, fields = asked.get("title", "Untitled"), asked.get("fields", ["name"])
    step(30, f"What should {title!r} do?")
    stories = [f"A guest can say their {field}." for field in fields] + ["Everybody can read what guests said."]
    step(70, f"{len(stories)} stories")
    spec = {"title": title, "fields": fields, "stories": stories}
    (folder / "spec.json").write_text(json.dumps(spec, indent=2), encoding="utf-8")
    done({"stories": len(stories)})


if __name__ == "__main__":
    main()
