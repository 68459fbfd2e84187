"""The table of results: one row a run, in one csv file that is always whole, from which a later start continues."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from unseen.errors import InputError
from unseen.experiments.plan import Run
from unseen.io.files import atomic_path

SCORES = ("micro_f1", "macro_f1", "seen_f1", "unseen_f1", "micro_f1_no_oracle", "macro_f1_no_oracle")
COLUMNS = (
    "dataset",
    "method",
    "params",
    "label_rate",
    "split_seed",
    "unseen",
    *SCORES,
    "setting",
    "seconds",
    "version",
    "error",
)


@dataclass(frozen=True)
class Result:
    """What came of a run: its scores, or the reason why there are none."""

    run: Run
    micro_f1: float | None = None
    macro_f1: float | None = None
    seen_f1: float | None = None
    unseen_f1: float | None = None
    micro_f1_no_oracle: float | None = None
    macro_f1_no_oracle: float | None = None
    setting: str = ""
    seconds: float | None = None
    version: str = ""
    error: str = ""


class ResultTable:
    """All results so far, kept in `path`; every change writes the file anew, whole or not at all.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = ResultTable(Path(folder) / "runs.csv")
    ...     table.add([Result(Run("cora", "rect", 0.1, 0), micro_f1=0.8)])
    ...     [result.micro_f1 for result in ResultTable(Path(folder) / "runs.csv")]
    [0.8]
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._results: dict[Run, Result] = {}
        if path.exists():
            for result in _read(path):
                self._results[result.run] = result

    def __iter__(self) -> Any:
        return iter(self._results[run] for run in sorted(self._results))

    def __len__(self) -> int:
        return len(self._results)

    def get(self, run: Run) -> Result | None:
        """Return the result of `run`, None if there is none yet."""
        return self._results.get(run)

    def missing(self, runs: Iterable[Run]) -> list[Run]:
        """Return the runs that have no score yet, failed ones included, each once."""
        return [run for run in dict.fromkeys(runs) if run not in self._results or self._results[run].error]

    def add(self, results: Iterable[Result]) -> None:
        """Put in results and write the file."""
        for result in results:
            self._results[result.run] = result
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for result in self:
            writer.writerow(_as_row(result))
        with atomic_path(self.path) as temporary:
            temporary.write_text(text.getvalue(), encoding="utf-8")


def _as_row(result: Result) -> dict[str, Any]:
    run = result.run
    values: dict[str, Any] = {f.name: getattr(result, f.name) for f in fields(result) if f.name != "run"}
    for name in SCORES:
        values[name] = "" if values[name] is None else f"{values[name]:.6f}"
    values["seconds"] = "" if result.seconds is None else f"{result.seconds:.3f}"
    return {
        "dataset": run.dataset,
        "method": run.method,
        "params": run.params,
        "label_rate": f"{run.label_rate:g}",
        "split_seed": run.seed,
        "unseen": "|".join(run.unseen),
        **values,
    }


def _read(path: Path) -> Iterable[Result]:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            msg = f"{path} is not a table of results: its columns are {reader.fieldnames}, expected {list(COLUMNS)}"
            raise InputError(msg)
        for line, row in enumerate(reader, start=2):
            try:
                yield _as_result(row)
            except (ValueError, TypeError) as error:
                msg = f"{path}, line {line}: cannot be read as a result ({error}); remove the line to run it again"
                raise InputError(msg) from None


def _as_result(row: Mapping[str, str]) -> Result:
    unseen = tuple(row["unseen"].split("|")) if row["unseen"] else ()
    run = Run(
        row["dataset"], row["method"], float(row["label_rate"]), int(row["split_seed"]), unseen, row["params"]
    )
    numbers = {name: float(row[name]) if row[name] else None for name in (*SCORES, "seconds")}
    return Result(run, setting=row["setting"], version=row["version"], error=row["error"], **numbers)
