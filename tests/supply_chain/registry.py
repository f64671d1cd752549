"""A server on this machine in place of an index: of npm packages, or of advisories."""

from __future__ import annotations

import io
import json
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Given the path and the body of a request; None is answered with 404.
Answer = Callable[[str, bytes], bytes | None]


@contextmanager
def served(answer: Answer) -> Iterator[str]:
    """Serve until the end of the block; give the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = answer(self.path, self.rfile.read(int(self.headers.get("Content-Length", 0))))
            self.send_response(404 if found is None else 200)
            self.send_header("Content-Length", str(len(found or b"")))
            self.end_headers()
            self.wfile.write(found or b"")

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            """Keep the output of the tests clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def registry(archive: bytes) -> Iterator[str]:
    """Serve one npm package, `tiny` 1.0.0; give the address."""

    def answer(path: str, _: bytes) -> bytes | None:
        if path.endswith(".tgz"):
            return archive
        version = {"name": "tiny", "version": "1.0.0", "dist": {"tarball": f"{url}/tiny/-/tiny-1.0.0.tgz"}}
        return json.dumps({"name": "tiny", "versions": {"1.0.0": version}}).encode() if path == "/tiny" else None

    with served(answer) as url:
        yield url


def tarball() -> bytes:
    """Return an npm package as the registry serves it."""
    manifest = json.dumps({"name": "tiny", "version": "1.0.0"}).encode()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        entry = tarfile.TarInfo("package/package.json")
        entry.size = len(manifest)
        archive.addfile(entry, io.BytesIO(manifest))
    return buffer.getvalue()
