"""Write the generated pages: `python -m tools.docs`, which `make docs` runs."""

from tools.docs import ROOT, pages

for path, text in pages().items():
    before = path.read_text() if path.exists() else ""
    path.write_text(text)
    print(f"{'same' if text == before else 'written'}: {path.relative_to(ROOT)}")
