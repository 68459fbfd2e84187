"""Runs a plan: side by side in processes, resumable, each result written as soon as it is there.

Vectors of methods that see no labels do not depend on the split: they are learned once for a data set, kept in
a folder beside the results and reused. A run that fails is recorded with its reason and does not stop the rest;
a worker that is killed loses the run it was on, which is tried again alone.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import unseen
from unseen.data.datasets import Dataset, load_dataset
from unseen.data.vectors import read_embedding
from unseen.embedding import Embedding
from unseen.engine.run import Shared
from unseen.errors import InputError, UnseenError, logger, need_library
from unseen.evaluation import Score, evaluate, fit_and_evaluate
from unseen.methods.registry import make_method, method_class
from unseen_paper.csv_files import locked
from unseen_paper.experiments.plan import CLASSIFIERS, EPOCHS, GRIDS, Run, as_params
from unseen_paper.experiments.results import SCORES, Result, ResultTable

T = TypeVar("T")
REFITS = {"gcn": 1, "appnp": 1}
"""Methods whose fits are so expensive that the classifier's C is chosen on one refit instead of three."""
LARGE = ("blogcatalog",)
"""Graphs on which that goes for the methods with a grid as well, and for the choice from it."""
CONNECT_SECONDS = 10
"""How long a Dask scheduler has to answer."""
TRIES = 2
"""How often a run that was under way when a worker died is tried alone."""
DIED = "the worker process died (out of memory?)"
SEED = 0
"""Seed of every method: splits differ from run to run, so that work without labels can be shared between them."""


def run_all(
    runs: Sequence[Run],
    table: ResultTable,
    *,
    n_jobs: int = 1,
    vectors: Path | None = None,
    on_progress: Callable[[int, int, int], None] = lambda done, total, failed: None,  # noqa: ARG005
) -> list[Result]:
    """Run what `table` does not hold yet, and return the results of all `runs`.

    Parameters
    ----------
    runs : sequence of Run
        The plan.
    table : ResultTable
        Where results are, and where new ones go.
    n_jobs : int
        Number of processes; an active joblib backend (a Dask cluster) takes precedence.
    vectors : Path, optional
        Folder for vectors that do not depend on the split; beside the table if not given.
    on_progress : callable
        Told after every run how many are done, of how many, and how many failed.
    """
    vectors = table.path.parent / "vectors" if vectors is None else vectors
    todo, failed = table.missing(runs), 0
    for done, (run, found) in enumerate(surviving(execute, todo, vectors, n_jobs), start=1):
        result = found or Result(run, version=unseen.__version__, error=DIED)
        table.add([result])
        if result.error:
            failed += 1
            logger.warning("%s on %s failed: %s", run.method, run.dataset, result.error)
        on_progress(done, len(todo), failed)
    return [entry for run in dict.fromkeys(runs) if (entry := table.get(run)) is not None]


def surviving(
    work: Callable[[Run, Path], T], runs: Iterable[Run], vectors: Path, n_jobs: int
) -> Iterator[tuple[Run, T | None]]:
    """Yield every run with what `work` returns for it, None for one that kills its worker although it is alone.

    Which run killed a worker is not known, but it was under way: those that had been started are run alone, and the
    rest goes on side by side.
    """
    from joblib import effective_n_jobs

    left = dict.fromkeys(runs)
    while left:
        try:
            for run, result in in_processes(_with_run, [(work, run, vectors) for run in left], n_jobs):
                del left[run]
                yield run, result
        except WorkerDiedError:
            logger.warning("a worker process died; starting the %d unfinished runs again", len(left))
            for run in list(left)[: effective_n_jobs(n_jobs)]:
                del left[run]
                found: T | None = None
                for _ in range(TRIES):
                    with suppress(WorkerDiedError):
                        [(_, found)] = in_processes(_with_run, [(work, run, vectors)], 2)
                        break
                yield run, found


def _with_run(work: Callable[[Run, Path], T], run: Run, vectors: Path) -> tuple[Run, T]:
    return run, work(run, vectors)


class WorkerDiedError(UnseenError):
    """A worker process died."""


def in_processes(work: Callable[..., T], arguments: Iterable[tuple[Any, ...]], n_jobs: int) -> Iterator[T]:
    """Yield what `work` returns for each of the `arguments`, in the order in which it is there."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    jobs = (delayed(work)(*each) for each in arguments)
    try:
        with _interrupts() as pressed:
            for outcome in Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)(jobs):
                if pressed:
                    raise KeyboardInterrupt
                yield outcome
    except Exception as error:
        # Dask's KilledWorker is known by its name: it need not be installed
        if isinstance(error, TerminatedWorkerError) or type(error).__name__ == "KilledWorker":
            raise WorkerDiedError(str(error)) from None
        raise


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Send the parallel work inside this block to the workers of a Dask scheduler; None leaves it where it is.

    Parameters
    ----------
    address : str or None
        Such as ``tcp://host:8786``, or ``tls://...`` with certificates in Dask's configuration.

    Examples
    --------
    >>> with on_cluster(None):
    ...     pass
    """
    if address is None:
        yield
        return
    client_type = need_library("distributed", "`--cluster`", "cluster").Client
    from joblib import parallel_config

    try:
        client = client_type(address, timeout=CONNECT_SECONDS, set_as_default=True)
    except (OSError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        msg = (
            f"no Dask scheduler answered at {address!r} within {CONNECT_SECONDS} s ({reason}); "
            "start one with `dask scheduler`, or check address, port and certificates"
        )
        raise InputError(msg) from None
    with client:
        workers = client.scheduler_info(n_workers=-1)["workers"]
        if not workers:
            msg = f"the Dask scheduler at {address!r} has no workers; start some with `dask worker {address}`"
            raise InputError(msg)
        logger.info("%s: %d workers", address, len(workers))
        with parallel_config(backend="dask"):
            yield


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Take note of every Ctrl-C: a method may catch it and hand over what it has so far, which is not its result."""
    pressed: list[int] = []
    before: Any = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield pressed
        return

    def note(number: int, frame: Any) -> None:
        pressed.append(number)
        before(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


def execute(run: Run, vectors: Path) -> Result:
    """Learn the vectors of one run, or take the shared ones, and score them."""
    try:
        _, score, seconds = embed_and_score(run, vectors)
    except Exception as error:  # noqa: BLE001  # a failed run is a row with its reason, whatever the reason
        return Result(run, version=unseen.__version__, error=f"{type(error).__name__}: {error}")
    figures = {name: getattr(score, name) for name in (*SCORES, "C")}
    setting = as_params(score.params) if score.params else ""
    return Result(run, **figures, setting=setting, seconds=seconds, version=unseen.__version__)


def embed_and_score(run: Run, vectors: Path) -> tuple[Embedding, Score, float]:
    """Return the vectors of a run, their score, and the seconds it took to learn them (and to choose, with labels)."""
    data = load_once(run.dataset)
    split = run.split(data.labels)
    options = CLASSIFIERS[run.classifier]
    if _is_split_free(run):
        embedding, seconds = _shared_vectors(run, data, vectors)
        return embedding, evaluate(embedding, data.labels, split, random_state=run.seed, **options), seconds
    if run.classifier and not _open_settings(run):
        embedding, seconds = _fitted(replace(run, classifier=""))
        return embedding, evaluate(embedding, data.labels, split, **options), seconds
    method = make_method(run.method, **run.keywords(), random_state=SEED)
    grid = _open_settings(run)
    start = time.perf_counter()
    embedding, score = fit_and_evaluate(
        method,
        data.graph,
        data.labels,
        split,
        param_grid=grid or None,
        n_refits=1 if grid and run.dataset in LARGE else REFITS.get(run.method),
        hide_classes=True,
        random_state=run.seed,
        shared=_shared(run.dataset),
        **options,
    )
    return embedding, score, time.perf_counter() - start


@lru_cache(maxsize=1)
def _fitted(run: Run) -> tuple[Embedding, float]:
    """Return vectors that several classifiers are trained on, one run after the other, and the seconds of the fit."""
    data = load_once(run.dataset)
    start = time.perf_counter()
    method = make_method(run.method, **run.keywords(), random_state=SEED)
    return method.fit_transform(data.graph, run.split(data.labels).seen_labels), time.perf_counter() - start


def _open_settings(run: Run) -> dict[str, list[Any]]:
    """Return the values among which a setting of the run is chosen inside L'."""
    choices = GRIDS.get(run.method) or EPOCHS.get(run.method, {})
    return {name: list(values) for name, values in choices.items() if name not in run.keywords()}


def _is_split_free(run: Run) -> bool:
    """Return whether the vectors of the run are the same for every split: no label is used or chooses a setting."""
    return not method_class(run.method)._traits.uses_labels and not _open_settings(run)


def _shared_vectors(run: Run, data: Dataset, vectors: Path) -> tuple[Embedding, float]:
    """Return vectors that are the same for every split, and the seconds of their fit; one process learns them."""
    path = _vectors_path(run, vectors)
    vectors.mkdir(parents=True, exist_ok=True)
    with locked(vectors):
        if not path.exists():
            start = time.perf_counter()
            learned = make_method(run.method, **run.keywords(), random_state=SEED).fit_transform(data.graph)
            params = {**learned.params, "seconds": time.perf_counter() - start}
            Embedding(learned.vectors, learned.node_ids, learned.method, params).save(path)
    embedding = read_embedding(path)
    return embedding, float(embedding.params["seconds"])


def _vectors_path(run: Run, vectors: Path) -> Path:
    digest = sha256(f"{run.params} {unseen.__version__}".encode()).hexdigest()[:12]
    return vectors / f"{run.dataset}-{run.method}-{digest}.npz"


@lru_cache(maxsize=1)
def _shared(dataset: str) -> Shared:
    """Return the work that all runs on the present data set share."""
    return Shared(load_once(dataset).graph)


@lru_cache(maxsize=2)
def load_once(name: str) -> Dataset:
    """Return a data set, the same object for all runs of a process."""
    return load_dataset(name)
