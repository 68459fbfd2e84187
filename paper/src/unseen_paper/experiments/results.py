"""The table of results: one row per run, in one csv file that is always whole, from which a later start continues."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from unseen.data.files import atomic_path
from unseen.errors import InputError
from unseen_paper.csv_files import csv_text, locked
from unseen_paper.experiments.plan import RULE, Run

SCORES = ("micro_f1", "macro_f1", "seen_f1", "unseen_f1", "micro_f1_no_oracle", "macro_f1_no_oracle")
COLUMNS = (
    "dataset",
    "method",
    "params",
    "classifier",
    "label_rate",
    "split_seed",
    "unseen",
    *SCORES,
    "C",
    "setting",
    "rule",
    "seconds",
    "version",
    "error",
)


@dataclass(frozen=True)
class Result:
    """Scores of a run and the rule by which its settings were chosen, or the reason why there are none."""

    run: Run
    micro_f1: float | None = None
    macro_f1: float | None = None
    seen_f1: float | None = None
    unseen_f1: float | None = None
    micro_f1_no_oracle: float | None = None
    macro_f1_no_oracle: float | None = None
    C: float | None = None
    setting: str = ""
    rule: str = RULE
    seconds: float | None = None
    version: str = ""
    error: str = ""


class ResultTable:
    """All results so far, kept in `path`; every change writes the file anew, whole or not at all.

    Several processes may share a file: what another one has written is read before it is written anew. Numbers are
    those of the file from the start, so tables do not depend on which part of a sweep was interrupted.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = ResultTable(Path(folder) / "runs.csv")
    ...     table.add([Result(Run("cora", "rect", 0.1, 0), micro_f1=0.8, macro_f1=2 / 3)])
    ...     [result.macro_f1 for result in ResultTable(Path(folder) / "runs.csv")]
    [0.666667]
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._results: dict[Run, Result] = {}
        self._read_at: tuple[int, ...] = ()
        self._refresh()

    def _refresh(self) -> None:
        """Read the file if it is not as this table last saw it."""
        at = _stamp(self.path)
        if at and at != self._read_at:
            self._results = {result.run: result for result in _read(self.path)}
            self._read_at = at

    def __iter__(self) -> Any:
        return iter(self._results[run] for run in sorted(self._results))

    def __len__(self) -> int:
        return len(self._results)

    def get(self, run: Run) -> Result | None:
        """Return the result of `run`, None if there is none yet."""
        return self._results.get(run)

    def missing(self, runs: Iterable[Run]) -> list[Run]:
        """Return the runs without a valid result, each once."""
        valid = valid_results(self)
        return [run for run in dict.fromkeys(runs) if run not in valid]

    def add(self, results: Iterable[Result]) -> None:
        """Put in results and write the file."""
        with locked(self.path.parent):
            self._refresh()
            for result in results:
                self._results[result.run] = _as_result(_as_row(result))
            with atomic_path(self.path) as temporary:
                text = csv_text(COLUMNS, map(_as_row, self))
                temporary.write_text(text, encoding="utf-8", newline="")
            self._read_at = _stamp(self.path)


def valid_results(results: Iterable[Result]) -> dict[Run, Result]:
    """Return the results that tables are made of: those with scores, by the present rule.

    Examples
    --------
    >>> run = Run("cora", "rect", 0.1, 0)
    >>> valid_results([Result(run, 0.8, 0.7, rule="first drop")])
    {}
    """
    return {result.run: result for result in results if not result.error and result.rule == RULE}


def _stamp(path: Path) -> tuple[int, ...]:
    """Return what changes when the file does, nothing if there is no file."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return ()
    return status.st_ino, status.st_mtime_ns, status.st_size


def _as_row(result: Result) -> dict[str, str]:
    """Return the cells of a result, as text."""
    run = result.run
    values: dict[str, Any] = {f.name: getattr(result, f.name) for f in fields(result) if f.name != "run"}
    for name in SCORES:
        values[name] = "" if values[name] is None else f"{values[name]:.6f}"
    values["C"] = "" if result.C is None else f"{result.C:.4g}"
    values["seconds"] = "" if result.seconds is None else f"{result.seconds:.3f}"
    return {
        "dataset": run.dataset,
        "method": run.method,
        "params": run.params,
        "classifier": run.classifier,
        "label_rate": repr(float(run.label_rate)),
        "split_seed": str(run.seed),
        "unseen": "|".join(run.unseen),
        **values,
    }


def _read(path: Path) -> Iterable[Result]:
    line = 1
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        try:
            if tuple(reader.fieldnames or ()) != COLUMNS:
                msg = f"{path} is not a table of results: its columns are {reader.fieldnames}, expected {list(COLUMNS)}"
                raise InputError(msg)
            for row in reader:
                yield _as_result(row)
                line = reader.line_num
        except InputError:
            raise
        except UnicodeDecodeError:
            msg = f"{path} cannot be read as a table of results: it is not UTF-8 text"
            raise InputError(msg) from None
        except (ValueError, TypeError, csv.Error) as error:
            msg = f"{path}, line {line + 1}: cannot be read as a result ({error}); remove the line to run it again"
            raise InputError(msg) from None


def _as_result(row: Mapping[str, str]) -> Result:
    if None in row.values() or None in row:
        msg = f"a row has {len(COLUMNS)} cells"
        raise ValueError(msg)
    unseen = tuple(row["unseen"].split("|")) if row["unseen"] else ()
    run = Run(
        row["dataset"],
        row["method"],
        float(row["label_rate"]),
        int(row["split_seed"]),
        unseen,
        row["params"],
        row["classifier"],
    )
    if not isinstance(json.loads(row["params"]), dict):
        msg = f"its parameters are {row['params']}"
        raise ValueError(msg)
    numbers = {name: float(row[name]) if row[name] else None for name in (*SCORES, "C", "seconds")}
    if not row["error"] and (numbers["micro_f1"] is None or numbers["macro_f1"] is None):
        msg = "it has neither both scores nor an error"
        raise ValueError(msg)
    values: dict[str, Any] = {name: row[name] for name in ("setting", "rule", "version", "error")}
    return Result(run, **(values | numbers))
