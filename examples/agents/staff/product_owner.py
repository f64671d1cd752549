"""PO: writes the requirements as stories."""

import json

from .report import arguments, done, step, work_folder


def main() -> None:
    given, folder = arguments(), work_folder()
    title, fields = given.get("title", "Untitled"), given.get("fields", ["name"])
    step(30, f"What should {title!r} do?")
    stories = [f"A guest can enter their {field}." for field in fields] + ["Everyone can read the entries."]
    step(70, f"{len(stories)} stories")
    spec = {"title": title, "fields": fields, "stories": stories}
    (folder / "spec.json").write_text(json.dumps(spec, indent=2), encoding="utf-8")
    done({"stories": len(stories)})


if __name__ == "__main__":
    main()
