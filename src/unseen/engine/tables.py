"""A graph as tables of a database: ids become numbers, edges become sorted rows, attributes find their nodes.

Each row has its place: nodes, edges, features and labels, in the order in which :func:`unseen.read_graph` numbers
their ids. A node's number is the rank of its first place. Nothing depends on the number of threads: every query whose
order counts says which, and weights are added in the order of their places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.data.ids import is_string, joined
from unseen.data.sources import Role
from unseen.engine.database import Database
from unseen.engine.rows import RowFiles
from unseen.errors import InputError
from unseen.graph import Symmetrize

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

ROLES: tuple[Role, ...] = ("nodes", "edges", "features", "labels")
"""Sources in the order in which their ids are numbered."""
APART = 1 << 60
"""Between the places of two sources."""


class Tables:
    """The tables of one graph, filled by :meth:`add`, of use after :meth:`number`.

    Parameters
    ----------
    database : Database
        Holds them.

    Attributes
    ----------
    n_nodes, n_edges, repeats, self_loops : int
        What was counted.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows = dict.fromkeys(ROLES, 0)
        self._text: set[Role] = set()
        self.n_nodes = self.n_edges = self.repeats = self.self_loops = 0
        for role in ROLES:
            ids = "src bigint, dst bigint, weight double" if role == "edges" else "id bigint"
            database.run(f"create table {role} ({ids}, place bigint)")
        database.run("create table classes (place bigint, name varchar)")

    def reserve(self, role: Role) -> int:
        """Return the number of a row that is filled later, if at all: a first line that waits."""
        self._rows[role] += 1
        return self._rows[role] - 1

    def add(self, role: Role, *ids: pa.Array, weight: Any = None, row: int | None = None) -> Ints:
        """Append rows of ids (or fill the reserved `row`), and return their places."""
        count, first = len(ids[0]), self._rows[role] if row is None else row
        places = ROLES.index(role) * APART + len(ids) * np.arange(first, first + count)
        if row is None:
            self._rows[role] += count
        if not count:
            return places
        names = ("src", "dst") if role == "edges" else ("id",)
        if role not in self._text and any(is_string(column.type) for column in ids):
            self._text.add(role)
            for name in names:
                self._database.run(f"alter table {role} alter {name} type varchar")
        kind = pa.large_string() if role in self._text else pa.int64()
        columns = {name: column.cast(kind) for name, column in zip(names, ids, strict=True)}
        if role == "edges":
            columns["weight"] = pa.nulls(count, pa.float64()) if weight is None else pa.array(weight)
        self._database.insert(role, pa.table({**columns, "place": places}))
        return places

    def add_classes(self, places: Ints, names: pa.Array) -> None:
        """Append the names of classes, given the places of the rows of labels that they stand in."""
        self._database.insert("classes", pa.table({"place": places, "name": names}))

    def number(self) -> None:
        """Give nodes their numbers, in the order of first appearance, and edges those of their ends."""
        ids = " union all ".join(self._ids(role) for role in ROLES)
        self._database.run(
            f"""create table numbers as
            select id, place, row_number() over (order by place) - 1 as number
            from (select id, min(place) as place from ({ids}) group by id)"""
        )
        (self.n_nodes,) = self._database.row("select count(*) from numbers")
        self._database.run(
            f"""create or replace table features as select number, own.place
            from ({self._ids("features")}) own join numbers using (id)"""
        )
        src, dst = (f"cast({end} as {self._kind})" for end in ("src", "dst"))
        self._database.run(
            f"""create table pairs as
            select one.number as i, other.number as j, weight, edges.place
            from edges join numbers one on one.id = {src} join numbers other on other.id = {dst}
            where weight is null or weight > 0"""
        )
        self._database.run("drop table edges")

    @property
    def text(self) -> bool:
        """Whether ids are texts; integers and texts meet as texts."""
        return bool(self._text)

    @property
    def _kind(self) -> str:
        return "varchar" if self.text else "bigint"

    def _ids(self, role: Role) -> str:
        """Return the query for all ids of a source and their places."""
        if role != "edges":
            return f"select cast(id as {self._kind}) as id, place from {role}"
        ends = (("src", 0), ("dst", 1))
        return " union all ".join(
            f"select cast({end} as {self._kind}) as id, place + {k} as place from edges" for end, k in ends
        )

    def stands(self, name: str) -> bool:
        """Return whether an id stands in any row of any source, before they are numbered."""
        ids = " union all ".join(self._ids(role) for role in ROLES)
        query = f"select exists (select 1 from ({ids}) where cast(id as varchar) = ?)"
        return bool(self._database.row(query, name)[0])

    def strangers(self, role: Role, first: int, last: int) -> int:
        """Return how many of these rows of a source name a node that no other source names; labels do not count."""
        others = " union all ".join(self._ids(other) for other in ROLES if other not in (role, "labels"))
        start = ROLES.index(role) * APART
        query = f"""select count(*) from ({self._ids(role)}) own anti join ({others}) other on own.id = other.id
            where own.place between ? and ?"""
        return int(self._database.row(query, start + first, start + last)[0])

    def listed_nodes(self, last: int) -> pa.Array:
        """Return the ids of the rows of the node list up to the `last`, in their order."""
        return joined(
            self._database.table(f"select id from nodes where place <= {last} order by place")["id"]
        )

    def label_only(self) -> tuple[int, object, int]:
        """Return how many nodes stand in labels only, the first of them, and the row it stands in."""
        start = ROLES.index("labels") * APART
        query = "select count(*), arg_min(id, place), coalesce(min(place), 0) from numbers where place >= ?"
        count, node, place = self._database.row(query, start)
        return int(count), node, int(place) - start

    def sorted_rows(self, folder: Path, symmetrize: Symmetrize) -> RowFiles:
        """Write the rows of the adjacency, both directions of every edge, repeated pairs combined."""
        if symmetrize == "error":
            self._refuse_repeats()
        (weighted,) = self._database.row("select count(weight) > 0 from pairs")
        weight = ", coalesce(weight, 1::double) as weight" if weighted else ""
        order = "i, j, place" if weighted and symmetrize == "sum" else "i, j"
        query = f"""select i, j{weight}
            from (from pairs union all select j, i, weight, place from pairs where i <> j) order by {order}"""
        rows = RowFiles(folder, self.n_nodes, weighted=weighted or symmetrize == "sum")
        waiting = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
        for piece in self._database.rows(query):
            new = [column.to_numpy() for column in piece.columns]
            new += [] if weighted else [np.ones(len(piece))]
            i, j, values = (np.concatenate(both) for both in zip(waiting, new, strict=True))
            last = int(np.searchsorted(i, i[-1]))
            last += int(np.searchsorted(j[last:], j[-1]))  # the last pair may go on in the next piece
            self._append(rows, i[:last], j[:last], values[:last], symmetrize)
            waiting = i[last:], j[last:], values[last:]
        self._append(rows, *waiting, symmetrize)
        rows.finish()
        self._database.run("drop table pairs")
        return rows

    def _append(self, rows: RowFiles, i: Ints, j: Ints, weights: Floats, symmetrize: Symmetrize) -> None:
        if not len(i):
            return
        starts = np.flatnonzero(np.r_[True, (i[1:] != i[:-1]) | (j[1:] != j[:-1])])
        with np.errstate(over="ignore"):
            merged = (np.add if symmetrize == "sum" else np.maximum).reduceat(weights, starts)
        if not np.isfinite(merged).all():
            msg = "the weights of a pair that is listed several times add up to infinity; scale the weights down"
            raise InputError(msg)
        upper = i <= j
        self.n_edges += int(upper[starts].sum())
        self.repeats += int(upper.sum()) - int(upper[starts].sum())
        self.self_loops += int((i == j)[starts].sum())
        rows.append(i[starts], j[starts], merged)

    def _refuse_repeats(self) -> None:
        """Raise the error that names the first pair that is listed more than once."""
        pair = """select least(i, j) as i, greatest(i, j) as j from pairs
            group by all having count(*) > 1 order by all limit 1"""
        query = f"""select one.id, other.id from ({pair})
            join numbers one on one.number = i join numbers other on other.number = j"""
        for one, other in zip(*self._database.table(query).columns, strict=True):
            msg = f"the pair {one} - {other} is listed more than once; say what to do with symmetrize='max' or 'sum'"
            raise InputError(msg)

    def ids(self, start: int, stop: int) -> Iterator[pa.Table]:
        """Yield the ids of nodes in the order of their numbers, in pieces."""
        return self._database.rows(
            f"select id as node from numbers where number >= {start} and number < {stop} order by number"
        )

    def feature_rows(self, start: int, stop: int) -> Iterator[Ints]:
        """Yield where the features of a range of nodes are listed, in pieces; -1 is a first line that waited."""
        query = f"""select place - {ROLES.index("features") * APART} - 1 as row from features
            where number >= {start} and number < {stop} order by number"""
        for piece in self._database.rows(query):
            yield piece["row"].to_numpy()

    def repeated_features(self) -> Any:
        """Return the first node that has several rows of features, or None."""
        several = "select number, min(place) as place from features group by number having count(*) > 1"
        query = f"select arg_min(id, several.place) from ({several}) several join numbers using (number)"
        return self._database.row(query)[0]

    def without_features(self) -> tuple[int, object]:
        """Return how many nodes have no features, and the first of them."""
        query = "select count(*), arg_min(id, number) from numbers anti join features using (number)"
        count, first = self._database.row(query)
        return int(count), first

    def number_classes(self) -> list[str]:
        """Give classes their numbers and nodes their classes, and return the names of classes, sorted."""
        names = sorted(self._database.table("select distinct name from classes")["name"].to_pylist())
        self._database.run("create table class_numbers (name varchar, class bigint)")
        numbered = {"name": pa.array(names, pa.large_string()), "class": np.arange(len(names))}
        self._database.insert("class_numbers", pa.table(numbered))
        self._database.run(
            f"""create table labelled as select distinct number as node, class
            from classes join class_numbers using (name)
            join ({self._ids("labels")}) own using (place) join numbers using (id)"""
        )
        return names

    def contradiction(self, starts: Sequence[int]) -> tuple[object, dict[int, list[str]], int] | None:
        """Return the first node that sources label differently, its labels by source, and how many such nodes are.

        The sources begin at the rows `starts` of the labels.
        """
        later = (f"(classes.place >= {ROLES.index('labels') * APART + row})::int" for row in starts[1:])
        labels = self._database.table(
            f"""with own as (
                select number, numbers.id, {" + ".join(later)} as source, list_sort(list(distinct name)) as names
                from classes join ({self._ids("labels")}) listed using (place) join numbers using (id)
                group by all),
            odd as (select number from own group by number having count(distinct names) > 1)
            select id, source, names, (select count(*) from odd) as count from own
            where number = (select min(number) from odd) order by source"""
        ).to_pylist()
        by_source = {row["source"]: row["names"] for row in labels}
        return (labels[0]["id"], by_source, labels[0]["count"]) if labels else None

    def label_rows(self, start: int, stop: int) -> tuple[Ints, Ints]:
        """Return rows and classes of the labels of a range of nodes, each once, in order."""
        labels = self._database.table(
            f"select node, class from labelled where node >= {start} and node < {stop} order by all"
        )
        return labels["node"].to_numpy() - start, labels["class"].to_numpy()
