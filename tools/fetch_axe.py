"""Put axe-core into the virtual environment: it judges the explorer page in the browser tests."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "4.14.0"
SHA256 = "20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878"
TARGET = Path(sys.prefix) / "axe.min.js"


def main() -> None:
    if TARGET.exists() and hashlib.sha256(TARGET.read_bytes()).hexdigest() == SHA256:
        return
    npm = shutil.which("npm")
    if npm is None:
        sys.stderr.write("no npm here: the explorer page is not judged by axe-core\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [npm, "pack", "--silent", f"axe-core@{VERSION}"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
        )
        archives = list(Path(folder).glob("*.tgz"))
        if done.returncode or not archives:
            sys.stderr.write(f"npm could not fetch axe-core: {done.stderr.strip()[-300:]}\n")
            return
        with tarfile.open(archives[0]) as archive:
            content = archive.extractfile("package/axe.min.js").read()  # type: ignore[union-attr]
    if hashlib.sha256(content).hexdigest() != SHA256:
        sys.exit(
            f"axe-core {VERSION} from npm is not the file that was looked at; check it, then its sha256 here"
        )
    TARGET.write_bytes(content)


if __name__ == "__main__":
    main()
