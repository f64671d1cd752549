"""BE: builds the server of the plan, which serves the page and stores the entries."""

from .report import done, read, step, work_folder

_SERVER = '''"""Serves {title!r}: python3 server.py [PORT]. Generated from the plan."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FIELDS = {fields!r}
PATH = {entries!r}
ENTRIES = []


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == PATH:
            self._respond(200, "application/json", json.dumps(ENTRIES).encode())
        elif self.path == "/":
            self._respond(200, "text/html; charset=utf-8", Path(__file__).with_name("index.html").read_bytes())
        else:
            self._respond(404, "text/plain", b"not found")

    def do_POST(self):
        try:
            entry = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            ENTRIES.append({{field: str(entry[field]) for field in FIELDS}})
        except (ValueError, KeyError, TypeError):
            self._respond(422, "text/plain", ("must have " + ", ".join(FIELDS)).encode())
        else:
            self._respond(201, "application/json", json.dumps(ENTRIES[-1]).encode())

    def _respond(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int((sys.argv[1:] or ["8080"])[0])), Handler)
    print(f"http://127.0.0.1:{{server.server_port}}", flush=True)
    server.serve_forever()
'''


def main() -> None:
    folder = work_folder()
    plan = read(folder / "plan.json")
    step(25, f"Routes: GET and POST {plan['entries']}")
    step(50, f"Entries with {', '.join(plan['fields'])}")
    source = _SERVER.format(**plan)
    step(75, "Compile it")
    compile(source, plan["server"], "exec")
    path = folder / plan["server"]
    path.parent.mkdir(exist_ok=True)
    path.write_text(source, encoding="utf-8")
    done({"file": str(path), "lines": len(source.splitlines())})


if __name__ == "__main__":
    main()
