"""FE: builds the page of the plan."""

import html

from .report import done, read, step, work_folder

_PAGE = """<!doctype html>
<meta charset="utf-8">
<title>{title}</title>
<h1>{title}</h1>
<form id="form">
{inputs}
  <button>Sign</button>
</form>
<ul id="entries"></ul>
<script>
const show = async () => {{
  const entries = await (await fetch("{entries}")).json();
  document.getElementById("entries").replaceChildren(...entries.map((entry) => {{
    const line = document.createElement("li");
    line.textContent = Object.values(entry).join(": ");
    return line;
  }}));
}};
document.getElementById("form").onsubmit = async (event) => {{
  event.preventDefault();
  const entry = Object.fromEntries(new FormData(event.target));
  await fetch("{entries}", {{method: "POST", body: JSON.stringify(entry)}});
  show();
}};
show();
</script>
"""


def main() -> None:
    folder = work_folder()
    plan = read(folder / "plan.json")
    inputs = []
    for number, field in enumerate(plan["fields"], start=1):
        step(80 * number // len(plan["fields"]), f"A field for the {field}")
        name = html.escape(field, quote=True)
        inputs.append(f'  <label>{name} <input name="{name}" required></label>')
    page = _PAGE.format(title=html.escape(plan["title"]), entries=plan["entries"], inputs="\n".join(inputs))
    path = folder / plan["page"]
    path.parent.mkdir(exist_ok=True)
    path.write_text(page, encoding="utf-8")
    done({"file": str(path), "bytes": path.stat().st_size})


if __name__ == "__main__":
    main()
