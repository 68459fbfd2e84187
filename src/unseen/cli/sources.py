"""From the words of a command to a graph, its labels, and the labels an embedding may see."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from unseen.cli.options import names
from unseen.errors import InputError, logger, unknown_name

if TYPE_CHECKING:
    from unseen.graph import Graph
    from unseen.labels import Labels
    from unseen.splits import Split


@dataclass(frozen=True)
class Input:
    """What a command was given: the graph, its labels if any, and the name to report."""

    name: str
    graph: Graph
    labels: Labels | None


def load_input(
    source: str,
    *,
    nodes: Path | None = None,
    features: Path | None = None,
    labels: Path | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    symmetrize: str = "max",
    drop_negative: bool = False,
) -> Input:
    """Return the data set of that name, or the graph read from the named files."""
    from unseen.data.datasets import load_dataset

    if is_dataset(source):
        given = {"--nodes": nodes, "--features": features, "--labels": labels}
        extra = [flag for flag, value in given.items() if value is not None]
        if extra:
            msg = f"{source!r} is a data set with its own features and labels; {extra[0]} goes with an edge file"
            raise InputError(msg)
        data = load_dataset(source)
        logger.info("%s: %s, %s", source, data.graph, data.labels)
        return Input(data.name, data.graph, data.labels)

    path = Path(source)
    from unseen.io.read import read_graph, read_labels

    graph = read_graph(
        path,
        nodes=nodes,
        features=features,
        labels=labels,
        header=header,
        delimiter=delimiter,
        symmetrize=symmetrize,  # type: ignore[arg-type]  # checked by read_graph
        drop_negative=drop_negative,
    )
    return Input(
        path.name,
        graph,
        None if labels is None else read_labels(labels, graph, header=header, delimiter=delimiter),
    )


@dataclass(frozen=True)
class Visible:
    """What an embedding may see, and the split it came from where labels were kept apart for a test."""

    labels: Labels | None
    split: Split | None


def hide(data: Input, unseen: str | None, label_rate: float | None, seed: int) -> Visible:
    """Return what `--unseen` and `--label-rate` leave of the labels.

    A label rate draws a split, whose other labels are kept for the test. Without one, all labels of the
    classes that are not hidden stay.
    """
    if unseen is None and label_rate is None:
        return Visible(data.labels, None)
    if data.labels is None:
        msg = "--unseen and --label-rate hide labels, and there are none; give them with --labels"
        raise InputError(msg)
    from unseen.splits import completely_imbalanced_split

    hidden = names(unseen)
    if label_rate is None:
        if set(data.labels.classes) <= set(hidden):
            msg = f"all {len(data.labels.classes)} classes are unseen; leave at least one to learn from"
            raise InputError(msg)
        visible = Visible(data.labels.keep(data.labels.labelled, without=hidden), None)
    else:
        split = completely_imbalanced_split(
            data.labels, label_rate=label_rate, unseen=hidden, random_state=seed
        )
        visible = Visible(split.seen_labels, split)
    logger.info(
        "hidden from the embedding: %s; %d of %d labelled nodes are left to learn from",
        ", ".join(hidden) or "no class",
        0 if visible.labels is None else len(visible.labels.labelled),
        len(data.labels.labelled),
    )
    return visible


def fingerprint(labels: Labels, split: Split) -> str:
    """Return a short hash of the nodes of L, by which a split is known again."""
    listed = "\0".join(str(node) for node in labels.node_ids[split.train])
    return sha256(listed.encode()).hexdigest()[:16]


def is_dataset(source: str) -> bool:
    """Whether `source` names a data set and not a file; a word that is neither is an error with a hint."""
    from unseen.data.datasets import dataset_names

    path = Path(source)
    if path.exists():
        return False
    if source not in dataset_names() and path.suffix == "" and path.parent == Path():
        hint = unknown_name("data set", source, dataset_names())
        msg = f"there is no file {source!r}, and {hint}"
        raise InputError(msg)
    return source in dataset_names()
