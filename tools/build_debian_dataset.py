"""Build the bundled graph `debian` from the package indexes of a Debian machine.

    python tools/build_debian_dataset.py                  # the indexes apt has on this machine
    python tools/build_debian_dataset.py Packages.xz ...  # these instead

Nodes are packages of a dozen sections, edges their dependencies of every kind, labels the sections,
features the words of the one-line descriptions. Of a package that several indexes list (a release,
its updates, its security updates) the newest version counts, as for apt. The same input gives the
same arrays, whatever the order of the indexes.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import hashlib
import lzma
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

SECTIONS = (
    "database", "editors", "electronics", "fonts", "games", "graphics",
    "mail", "math", "science", "sound", "video", "web",
)  # fmt: skip
RELATIONS = ("Depends", "Pre-Depends", "Recommends", "Suggests", "Enhances")
LEFT_OUT = ("-dev", "-dbg", "-doc")
MIN_PACKAGES = 3  # a word of fewer packages is left out
WORD = re.compile(r"[a-z0-9]*[a-z][a-z0-9]*")
STOP_WORDS = frozenset(
    """
    about after all also an and any are as at based be been before between both but by can did do does down
    each etc ever every few for from get has have having how if in into is it its just less like many may
    more most much no non not now of off on one only onto or other others our out over own per same several
    should since so some such than that the their them then there these they this those through to too under
    up upon use used uses using various very via was we were what when where which while who will with within
    without would you your
    """.split()  # noqa: SIM905 (a block of text is easier to read and change than 120 quoted words)
)
LISTS = Path("/var/lib/apt/lists")
OUTPUT = Path(__file__).resolve().parents[1] / "src" / "unseen" / "data" / "debian.npz"


@dataclass(frozen=True)
class Package:
    """What one stanza of an index says, as far as it is used here."""

    name: str
    version: str
    section: str
    description: str
    related: tuple[str, ...]


def read_index(path: Path) -> str:
    """Return the text of an index, unpacked by what its name ends in (apt itself knows .lz4)."""
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes()).decode()
    if path.suffix == ".xz":
        return lzma.decompress(path.read_bytes()).decode()
    if path.suffix == ".lz4":
        helper = ["/usr/lib/apt/apt-helper", "cat-file", str(path)]
        return subprocess.run(helper, check=True, capture_output=True).stdout.decode()
    return path.read_text(encoding="utf-8")


def stanzas(text: str) -> Iterator[dict[str, str]]:
    """Yield the fields of each stanza; a line that starts with a blank continues the field above."""
    fields: dict[str, str] = {}
    key = ""
    for line in [*text.splitlines(), ""]:
        if not line.strip():
            if fields:
                yield fields
            fields = {}
        elif line[0] in " \t":
            fields[key] += "\n" + line.strip()
        else:
            key, _, value = line.partition(":")
            fields[key] = value.strip()


def related_names(fields: dict[str, str]) -> Iterator[str]:
    """Yield the name of every package a stanza relates to, alternatives (`|`) included."""
    for relation in RELATIONS:
        for entry in re.split(r"[,|]", fields.get(relation, "")):
            name = re.split(r"[\s:(\[<]", entry.strip(), maxsplit=1)[0]
            if name:
                yield name


def packages(texts: Iterable[str]) -> dict[str, Package]:
    """Return the packages of all indexes by name, the newest version of each, in the wanted sections."""
    newest: dict[str, Package] = {}
    for text in texts:
        for fields in stanzas(text):
            package = Package(
                fields["Package"],
                fields.get("Version", "0"),
                fields.get("Section", ""),
                fields.get("Description", "").split("\n")[0],
                tuple(related_names(fields)),
            )
            present = newest.get(package.name)
            if present is None or version_key(package.version) > version_key(present.version):
                newest[package.name] = package
    # Sections are judged last: a newer version may have moved to another one.
    return {p.name: p for p in newest.values() if p.section in SECTIONS and not p.name.endswith(LEFT_OUT)}


@functools.cache
def version_key(version: str) -> tuple[int, list[tuple[list[int], int]], list[tuple[list[int], int]]]:
    """Return a key that sorts versions as Debian's policy does: epoch, upstream version, revision."""
    epoch, colon, rest = version.partition(":")
    if not colon:
        epoch, rest = "0", version
    upstream, _, revision = rest.rpartition("-") if "-" in rest else (rest, "", "0")
    return int(epoch), _part_key(upstream), _part_key(revision)


def _part_key(part: str) -> list[tuple[list[int], int]]:
    # Text and digits take turns; `~` sorts before the end of a text, letters before other signs.
    pieces = re.findall(r"([^0-9]*)([0-9]*)", part)
    rank = {"~": -1}
    return [
        (
            [rank.get(sign, ord(sign) + (0 if sign.isalpha() else 256)) for sign in text] + [0],
            int(digits or 0),
        )
        for text, digits in pieces
    ]


def edges(selected: dict[str, Package]) -> set[tuple[str, str]]:
    """Return the undirected edges between the packages; names that no package has (virtual ones) drop out."""
    return {
        (min(p.name, other), max(p.name, other))
        for p in selected.values()
        for other in p.related
        if other in selected and other != p.name
    }


def words(description: str) -> set[str]:
    """Return the words of a one-line description, of two letters or more, without stop words."""
    return {w for w in WORD.findall(description.lower()) if len(w) > 1} - STOP_WORDS


def build(texts: Iterable[str]) -> dict[str, npt.NDArray[np.generic]]:
    """Return the arrays of the bundled file; strings are lines of UTF-8, so that no pickle is needed."""
    selected = packages(texts)
    pairs = sorted(edges(selected))
    names = sorted({name for pair in pairs for name in pair})
    bags = [words(selected[name].description) for name in names]
    counts = Counter(word for bag in bags for word in bag)
    vocabulary = sorted(word for word, count in counts.items() if count >= MIN_PACKAGES)
    column = {word: k for k, word in enumerate(vocabulary)}
    row = {name: k for k, name in enumerate(names)}
    columns = [sorted(column[word] for word in bag if word in column) for bag in bags]
    return {
        "nodes": _lines(names),
        "words": _lines(vocabulary),
        "sections": _lines(SECTIONS),
        "section": np.array([SECTIONS.index(selected[name].section) for name in names], dtype=np.uint8),
        "src": np.array([row[a] for a, _ in pairs], dtype=np.uint16),
        "dst": np.array([row[b] for _, b in pairs], dtype=np.uint16),
        "word_counts": np.array([len(found_words) for found_words in columns], dtype=np.uint8),
        "word_columns": np.array([k for found_words in columns for k in found_words], dtype=np.uint16),
    }


def _lines(values: Iterable[str]) -> npt.NDArray[np.uint8]:
    return np.frombuffer("\n".join(values).encode(), dtype=np.uint8)


def find_indexes() -> list[Path]:
    """Return the bookworm main amd64 indexes apt has here: the release, its updates, security updates."""
    return sorted(LISTS.glob("*bookworm*_main_binary-amd64_Packages*"))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("index", nargs="*", type=Path, help="Packages files, plain, .gz, .xz or .lz4")
    parser.add_argument("-o", "--output", type=Path, default=OUTPUT)
    options = parser.parse_args(argv)
    indexes = options.index or find_indexes()
    if not indexes:
        print(f"no package index under {LISTS}; run `apt-get update` or name the files", file=sys.stderr)
        return 1
    arrays = build(read_index(path) for path in indexes)
    np.savez_compressed(options.output, **arrays)
    content = options.output.read_bytes()
    section, src, dst = arrays["section"], arrays["src"], arrays["dst"]
    inside = np.mean(section[src.astype(int)] == section[dst.astype(int)])
    print(f"{len(section)} packages, {len(src)} edges, {inside:.1%} of them inside one section,")
    print(f"{len(arrays['words'].tobytes().splitlines())} words, {len(content)} bytes")
    print(f"sha256 {hashlib.sha256(content).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
