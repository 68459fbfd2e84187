"""All commands in one place, and the one place where errors become a line on stderr."""

from __future__ import annotations

import importlib
import logging
import os
import sys
import traceback
from typing import TYPE_CHECKING, Annotated, Any

import typer

import unseen
from unseen.cli import options
from unseen.cli.output import say, set_flags, set_level, translate_flags
from unseen.data.files import remove_temporaries
from unseen.errors import UnseenError, UsageError, logger

if TYPE_CHECKING:
    from unseen.data.project import Project

FAILED, USAGE, INTERRUPTED = 1, 2, 130
"""Exit codes; the last one is what typer and shells make of Ctrl-C."""

SETTINGS: dict[str, Any] = {
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
"""Settings of typer that both programs share."""
PAPER_COMMANDS = {
    "reproduce": "The paper's tables and figures, ours beside theirs.",
    "bench": "Measure speed and memory, and print the ratios.",
}
"""Help of the commands of the paper's package, which are listed whether it is installed or not."""
ABSENT = "Comes with the paper's package, which is not installed."
"""Help of these commands where it is missing; calling one of them says how to install it."""
COMMANDS = {
    "init": (
        "Look at your files and write a project file, unseen.toml.",
        ("unseen init edges.csv --features features.csv --labels labels.csv",),
    ),
    "demo": ("Hide classes of a bundled graph and see what is found.", ("unseen demo",)),
    "embed": (
        "Learn a node embedding and write it to a file.",
        (
            "unseen embed debian -o vectors.parquet",
            "unseen embed edges.csv --features features.csv --labels labels.csv -o vectors.npz",
            "cat edges.csv | unseen embed - --method mfdw --dim 64 -o -",
        ),
    ),
    "discover": (
        "Find the nodes and classes that your labels are missing.",
        (
            "unseen discover edges.csv --labels labels.csv -o nodes.csv",
            "unseen discover debian --unseen mail,web --label-rate 0.3",
        ),
    ),
    "predict": (
        "Write a class for every node: labelled, predicted or candidate.",
        ("unseen predict edges.csv --labels labels.csv -o classes.csv",),
    ),
    "suggest": (
        "Suggest which nodes to label next.",
        (
            "unseen suggest edges.csv --labels labels.csv --budget 10 -o ask.csv",
            "unseen suggest edges.csv --labels labels.csv --random 5 -o tasks.json   # for Label Studio",
        ),
    ),
    "accept": (
        "Turn candidate classes into labels.",
        ("unseen accept labels.csv nodes.parquet new-1=sound new-2=mail -o labels-2.csv",),
    ),
    "audit": ("List labels that are probably wrong.", ("unseen audit edges.csv --labels labels.csv",)),
    "explore": (
        "Write an HTML page with a map of the graph and all findings.",
        ("unseen explore edges.csv --labels labels.csv -o page.html",),
    ),
    "label": (
        "Label nodes in your browser.",
        ("unseen label edges.csv --features features.csv --labels labels.csv",),
    ),
    "export": (
        "Write the map for another tool: Embedding Atlas.",
        ("unseen export atlas edges.csv --labels labels.csv -o map.parquet",),
    ),
    "evaluate": (
        "Score an embedding by classifying its nodes.",
        ("unseen evaluate vectors.parquet --labels labels.csv --unseen mail,web",),
    ),
    "convert": (
        "Convert a graph, features, labels or an embedding.",
        ("unseen convert graph.graphml edges.parquet", "unseen convert vectors.parquet vectors.w2v.txt"),
    ),
    "partition": (
        "Split a graph into parts, for training on several processes.",
        ("unseen partition edges.parquet -o parts --parts 4",),
    ),
    "datasets": ("List the data sets, or load one.", ("unseen datasets debian",)),
    "methods": ("List the methods, or the parameters of one.", ("unseen methods rect-plus",)),
}
"""In the order of use: the line of each command in the list, and examples for its help. Each command is a function in a
module of its own name."""
FIRST = """\
unseen finds the classes your labels are missing. To try it:
  unseen demo                                                 a bundled graph, in a minute
  unseen discover edges.csv --labels labels.csv               the classes that your own labels are missing
  unseen init edges.csv --labels labels.csv                   a project file: other commands then need no arguments
  unseen --help                                               all commands
"""
"""What `unseen` without arguments prints."""
EXAMPLE = """\b
Example:
  unseen init edges.csv --labels labels.csv
  unseen discover"""


class Command(typer.core.TyperCommand):
    """A command that may take its options from a project file, and has them in groups in its help."""

    project: Project | None = None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line; a project file supplies options that it does not have."""
        if any(each.name == "project" for each in self.params) and not ctx.resilient_parsing:
            for k in reversed([k for k, word in enumerate(args) if word == "--project"]):
                if k + 1 == len(args) or args[k + 1].startswith("-"):
                    args = [*args[: k + 1], ".", *args[k + 1 :]]  # the file of this folder
            typed, _, _ = self.make_parser(ctx).parse_args(list(args))
            if "help" not in typed and ("project" in typed or typed.get("source") is None):
                from unseen.cli.project import find_project, project_defaults

                self.project = find_project(typed, needs_graph=hasattr(self.callback, "needs_graph"))
                if self.project is not None:
                    ctx.default_map = project_defaults(self.project, typed, self.name)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; from here on, messages name the flag of a parameter, or its line in the project file."""
        if ctx.params.get("verbose") or ctx.params.get("debug"):
            set_level(logging.DEBUG)
        if ctx.params.get("quiet"):
            set_level(logging.ERROR)
        if ctx.params.get("threads"):  # before the numerical libraries are loaded
            for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
                os.environ[name] = str(ctx.params["threads"])
        project, flags = self.project, {}
        if project is not None:
            logger.info("options come from %s", project.path)
        for param in self.params:
            name = str(param.name)
            flags[name] = max(param.opts, key=len) if param.opts[0].startswith("-") else name.upper()
            if project is not None and ctx.get_parameter_source(name).name == "DEFAULT_MAP":
                flags[name] = f"{project.place(name)}: {name}" if name in project.values else flags[name]
        flags |= {other: flags[name] for name, other in options.PARAMETERS.items() if name in flags}
        flags |= {name: f"--param {name}" for name in options.parameter_names(ctx.params.get("param"))}
        set_flags(flags)
        return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each group of options."""
        for heading, records in self.sections(ctx).items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def sections(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        """Return arguments and options with their meaning, by the heading of their group, as they are declared."""
        headings = getattr(self.callback, "headings", {})
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None:
                continue
            name, meaning = record
            heading = "General" if param.name == "help" else headings.get(param.name, "Options")
            if param.param_type_name == "argument":
                heading, name = "Arguments", name.partition(" ")[0]  # without its type
            elif param.default is False:
                name = name.partition(" / ")[0]  # without the negation
            sections.setdefault(heading, []).append((name, meaning))
        return sections


def make_app(word: str | None) -> typer.Typer:
    """Return the program: `word` as a command that can run, all others by name only."""
    about = "Find the classes your labels are missing, and learn node embeddings that keep them apart."
    app = typer.Typer(name="unseen", help=about, epilog=EXAMPLE, **SETTINGS)
    app.callback()(_take_version)
    is_completing = "_UNSEEN_COMPLETE" in os.environ  # a shell asks for the options of any command
    for name, (summary, examples) in COMMANDS.items():
        function: Any = _do_nothing
        if name == word or is_completing:
            function = getattr(importlib.import_module(f"unseen.cli.{name}"), name)
        epilog = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in examples)
        app.command(name, cls=Command, short_help=summary, epilog=epilog)(function)
    if word in COMMANDS:
        return app
    from unseen.plugins import IN_PAPER, find_plugins, load_plugin, owner_of

    entries = find_plugins("command")
    texts = {name: ABSENT for name in IN_PAPER["command"] if name not in entries}
    for name, entry in entries.items():
        if name in COMMANDS:
            logger.warning("the command %r of %s is ignored: unseen has one", name, owner_of(entry))
        else:
            texts[name] = PAPER_COMMANDS.get(name, f"A command of {owner_of(entry)}.")
    for name, text in texts.items():
        if name == word:
            app.command(name, cls=Command)(load_plugin("command", name))
        else:
            app.command(name, cls=Command, help=text)(_do_nothing)
    return app


def _do_nothing() -> None:
    """Take the place of a command that is listed but not called."""


def _print_version(show: bool) -> None:
    if show:
        sys.stdout.write(f"unseen {unseen.__version__}\n")
        raise typer.Exit


def _take_version(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Take the options of the program itself."""


def run(
    argv: list[str],
    program: typer.Typer | None = None,
    name: str = "unseen",
    *,
    who: str = "unseen: ",
    level: int = logging.INFO,
) -> int:
    """Run one command and return its exit code; an error is one line, with its traceback if --debug was given."""
    set_level(level)
    set_flags({})
    try:
        if program is None and not argv and "_UNSEEN_COMPLETE" not in os.environ:
            sys.stdout.write(FIRST)
            return 0
        if program is None:
            argv = [*argv[1:], "--help"] if argv[:1] == ["help"] else argv
            program = make_app(argv[0] if argv and not argv[0].startswith("-") else None)
        program(argv, prog_name=name, standalone_mode=True)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # the last line of defence
        code, message = _explain(error)
        if message:
            if "--debug" in argv:
                traceback.print_exc(file=sys.stderr)
            say(who + translate_flags(" ".join(message.split())))
        return code
    return 0


def _explain(error: BaseException) -> tuple[int, str]:
    """Return the exit code of an error and what to say about it, which is nothing where typer has said it."""
    if isinstance(error, SystemExit):
        if error.code != INTERRUPTED:
            return error.code if isinstance(error.code, int) else FAILED, ""
        names = ", ".join(map(str, remove_temporaries()))
        left = f"remove these temporary files: {names}" if names else "no half-written file was left behind"
        return INTERRUPTED, f"interrupted; {left}"
    if isinstance(error, UnseenError):
        return USAGE if isinstance(error, UsageError) else FAILED, str(error)
    if isinstance(error, BrokenPipeError):  # the reader has gone: be quiet about it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED, ""
    if isinstance(error, MemoryError):
        advice = "try fewer dimensions (--dim), or a method that needs less memory (unseen methods)"
        return FAILED, f"out of memory; {advice}"
    advice = "this is a bug in unseen; please report it with the traceback, which --debug prints"
    return FAILED, f"unexpected {type(error).__name__}: {error} ({advice})"
