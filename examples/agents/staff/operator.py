"""DevOps: packs the tested files. The archive is reproducible byte for byte."""

import gzip
import hashlib
import io
import tarfile
from pathlib import Path

from .report import done, step, work_folder


def main() -> None:
    folder = work_folder()
    step(40, "Collect the files")
    archive = _packed(folder / "staging")
    path = folder / "release.tar.gz"
    path.write_bytes(archive)
    step(90, f"{path}: {len(archive)} bytes")
    done({"file": str(path), "sha256": hashlib.sha256(archive).hexdigest()})


def _packed(folder: Path) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path in sorted(folder.glob("*.*")):
            entry = tarfile.TarInfo(path.name)
            entry.size = path.stat().st_size
            with path.open("rb") as file:
                tar.addfile(entry, file)
            print(f"+ {path.name}", flush=True)
    return gzip.compress(packed.getvalue(), mtime=0)


if __name__ == "__main__":
    main()
