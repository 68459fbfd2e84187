"""Make environments for libraries that the project's own cannot hold: `tools/make_environment.py [NAME ...]`.

`tests/others/NAME.txt` has the exact versions of all that is installed. Everything else comes from the environment that
runs this, so little is installed; a second run installs nothing.
"""

from __future__ import annotations

import fcntl
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
LISTS = ROOT / "tests" / "others"


def environment(name: str) -> Path:
    """Return the interpreter of an environment, which need not be there."""
    return Path(sys.prefix, "others", name, "bin", "python")


def make_environment(name: str) -> Path:
    """Install what the list says beside the libraries of this environment; return the interpreter."""
    python = environment(name)
    folder = python.parents[1]
    wanted = (LISTS / f"{name}.txt").read_text(encoding="utf-8")
    own = {re.split(r"[=\[]", line)[0] for line in wanted.split()}
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    constraints = "\n".join(line for line in pins if line.partition("==")[0] not in own)
    installed = folder / "installed.txt"
    folder.parent.mkdir(exist_ok=True)
    with (folder.parent / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if installed.exists() and installed.read_text(encoding="utf-8") == wanted:
            return python
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=False, symlinks=True)
        paths = {"base": str(folder), "platbase": str(folder)}
        site = Path(sysconfig.get_path("purelib", vars=paths))
        (site / "shared.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
        (folder / "constraints.txt").write_text(constraints)
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
        pip += ["--no-deps", "--disable-pip-version-check", "-c", str(folder / "constraints.txt")]
        subprocess.run([*pip, "-r", str(LISTS / f"{name}.txt")], check=True)
        installed.write_text(wanted, encoding="utf-8")
    return python


if __name__ == "__main__":
    for each in sys.argv[1:] or sorted(path.stem for path in LISTS.glob("*.txt")):
        print(make_environment(each))
