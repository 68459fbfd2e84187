"""Pages of the site that are made from declarations, and those that are made of other files of the repository."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import typer

from unseen.cli.app import COMMANDS, make_app
from unseen.methods.registry import all_methods

ROOT = Path(__file__).parents[1]
COPIED = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "CITATION.cff": "project/CITATION.cff",
    "src/unseen/data/DEBIAN.md": "project/debian.md",
    "paper/docs/results": "project/results",
    "paper/docs/notes": "project/notes",
}
"""Files and folders of the repository, and where the site has them."""
LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)]*)?(\))")
LARGE = {"runs.csv", "layouts.csv"}
"""Data that nobody reads on a page."""


class InOrder:
    """Sorts the scripts of a gallery: tutorials from easy to hard, then all others by name."""

    first = ("first_graph", "pandas_networkx", "pyg", "single_cells", "several_kinds", "labelling")

    def __init__(self, _folder: str) -> None:
        pass

    def __call__(self, file: str) -> tuple[int, str]:
        name = Path(file).stem
        return self.first.index(name) if name in self.first else len(self.first), name


def write_all(docs: Path) -> None:
    """Write every made page below `docs`."""
    for folder in ("project", "run"):
        shutil.rmtree(docs / folder, ignore_errors=True)
    shutil.copytree(docs / "examples", docs / "run")  # scripts write files where they run
    for source, target in COPIED.items():
        goal = docs / target
        goal.parent.mkdir(exist_ok=True)
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, goal, ignore=lambda _, names: LARGE & set(names))
            (goal / "README.md").rename(goal / "index.md")
        else:
            shutil.copy2(ROOT / source, goal)
    with (docs / "project" / "notes" / "index.md").open("a", encoding="utf-8") as file:
        file.write("\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n")
    for name, text in (("commands.md", commands_page()), ("methods.md", methods_page())):
        page = docs / "reference" / name
        if not page.exists() or page.read_text(encoding="utf-8") != text:  # so that it is not built again
            page.write_text(text, encoding="utf-8")


def mend_links(app: Any, name: str, source: list[str]) -> None:
    """Turn links into the repository into links inside the site."""
    page = Path(app.env.doc2path(name)).resolve().relative_to(ROOT / "docs")
    original = next(
        (ROOT / file / page.relative_to(target) if (ROOT / file).is_dir() else ROOT / file)
        for file, target in {**COPIED, "docs": "."}.items()
        if page.is_relative_to(target)
    )
    if page.suffix == ".md":
        source[0] = LINK.sub(lambda match: mended(match, original, page), source[0])


def mended(match: re.Match[str], original: Path, page: Path) -> str:
    """Return a link of the file `original` as its page on the site has it."""
    before, target, anchor, after = match[1], match[2], match[3] or "", match[4]
    if "://" in target or target.startswith("/"):
        return match[0]
    goal = (original.parent / target).resolve()
    if not goal.is_relative_to(ROOT):
        return match[0]
    for file, place in {**COPIED, "docs": "."}.items():
        if goal.is_relative_to(ROOT / file):
            inside = Path("/", place, goal.relative_to(ROOT / file))
            if goal.name == "README.md":
                inside = inside.with_name("index.md")
            # pictures and data are given relative to their page
            if inside.suffix != ".md":
                return f"{before}{'../' * (len(page.parts) - 1)}{str(inside)[1:]}{after}"
            return f"{before}{inside}{anchor}{after}"
    return match[0]


def cell(text: Any) -> str:
    """Return a text as a cell of a Markdown table."""
    return " ".join(str(text).split()).replace("|", "\\|").replace("``", "`")


def table(header: list[str], rows: list[list[Any]]) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(map(cell, line)) + " |" for line in lines] + [""]


def methods_page() -> str:
    """Return all methods, and the parameters of each, as they are declared."""
    classes = all_methods()
    lines = ["# Methods and their parameters", ""]
    lines += ["`unseen methods` prints the first table, `unseen methods NAME` one of the others. "]
    lines += ["`--param NAME=VALUE` and the constructor take the parameters.", ""]
    rows = [
        [
            f"[`{name}`](#{name})",
            f"{{py:class}}`unseen.{each.__name__}`",
            "yes" if each._traits.uses_features else "",
            "yes" if each._traits.uses_labels else "",
            each._traits.extra,
            each._traits.summary,
        ]
        for name, each in classes.items()
    ]
    lines += table(["name", "class", "features", "labels", "extra", "what it does"], rows)
    for name, each in classes.items():
        lines += [f"## {name}", "", f"{each._traits.summary[:1].upper()}{each._traits.summary[1:]}.", ""]
        lines += [f"*{each.reference}*", ""]
        lines += table(
            ["parameter", "default", "allowed", "meaning"],
            [
                [f"`{p.name}`", f"`{p.default!r}`", cell(p.allowed), p.meaning]
                for p in each._parameters.values()
            ],
        )
    return "\n".join(lines)


def commands_page() -> str:
    """Return the help of every command, as it is declared."""
    lines = ["# Command line", "", "`unseen help NAME` prints the same on the terminal. Exit codes: 0 done, "]
    lines += ["1 failed with one readable line, 2 wrong usage, 130 interrupted.", ""]
    lines += table(["command", ""], [[f"[`{name}`](#unseen-{name})", COMMANDS[name][0]] for name in COMMANDS])
    for name, (_, examples) in COMMANDS.items():
        group: Any = typer.main.get_command(make_app(name))
        command = group.commands[name]
        context = typer.Context(command, info_name=f"unseen {name}")
        lines += [f"## unseen {name}", ""]
        usage = " ".join(command.collect_usage_pieces(context))
        about = re.sub(r"(?s)\s*\b\f.*", "", command.help or "")
        lines += ["```text", f"unseen {name} {usage}", "```", "", *about.splitlines(), ""]
        for heading, records in command.sections(context).items():
            rows = [[f"`{option}`", meaning] for option, meaning in records]
            lines += [f"**{heading}**", "", *table(["", ""], rows)]
        lines += ["```console", *(f"$ {line}" for line in examples), "```", ""]
    return "\n".join(lines)
