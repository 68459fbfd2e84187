"""A graph as tables of a database: ids become numbers, edges become sorted rows, attributes find their nodes.

Each row has its place: nodes, edges, features and labels, in the order in which :func:`unseen.read_graph` numbers
their ids. A node's number is the rank of its first place. Nothing depends on the number of threads: every query whose
order counts says which, and weights are added in the order of their places.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from unseen.data.build import missing_features, no_common_id, tell_contradiction
from unseen.data.headers import HEADER_HINT
from unseen.data.ids import id_column, is_string, joined, numbered_ids
from unseen.data.pieces import Edges, Reader, require_columns, tell_ignored
from unseen.data.read import FEW_EDGES, Intake
from unseen.data.roles import NodeReader
from unseen.data.sources import Role
from unseen.data.tables import Table
from unseen.engine.database import Database
from unseen.engine.parts import FeatureFile, Meta, PartMeta, RowFiles, not_plain
from unseen.errors import InputError, counted, logger
from unseen.graph import Symmetrize
from unseen.ids import Floats, Ints
from unseen.labels import warn_of_missing_words

ROLES: tuple[Role, ...] = ("nodes", "edges", "features", "labels")
"""Sources in the order in which their ids are numbered."""
APART = 1 << 60
"""Between the places of two sources."""


class Tables:
    """The tables of one graph: filled by :meth:`read`, of use to write parts after that.

    Parameters
    ----------
    database : Database
        Holds them.
    intake : Intake
        Where they come from.
    work : Path
        Folder for what waits on disk.
    n_bytes : int
        Bytes of input that are read together.

    Attributes
    ----------
    n_nodes, n_edges, repeats, self_loops : int
        What was counted.
    """

    def __init__(self, database: Database, intake: Intake, work: Path, n_bytes: int) -> None:
        self._database, self._intake, self._work, self._n_bytes = database, intake, work, n_bytes
        self._rows = dict.fromkeys(ROLES, 0)
        self._spans: dict[Reader[Any], range] = {}
        self._text: set[Role] = set()
        self._kinds: dict[type, dict[str, None]] = {}
        self._numbered = 0  # rows of features that name no nodes
        self._classes: list[str] = []
        self._features: FeatureFile | None = None
        if intake.features is not None:
            self._features = FeatureFile(work / "features", intake.features.name)
        self.n_nodes = self.n_edges = self.repeats = self.self_loops = 0
        for role in ROLES:
            ids = "src bigint, dst bigint, weight double" if role == "edges" else "id bigint"
            database.run(f"create table {role} ({ids}, place bigint)")
        database.run("create table classes (place bigint, name varchar)")

    def read(self) -> None:
        """Fill the tables, then number nodes and classes."""
        intake = self._intake
        for reader in intake.readers:
            start = self._rows[reader.role]
            for piece in reader.pieces(self._n_bytes):
                self._take(reader.role, piece)
            self._spans[reader] = range(start, self._rows[reader.role])
        require_columns(intake.readers, intake.options)
        if intake.edges.source.beside is not None:
            for piece in NodeReader(intake.edges.source.beside).pieces(self._n_bytes):
                self._take("nodes", piece)
        for reader in intake.readers:
            if reader.first is not None and self._is_first_row_header(reader):
                place = self._first_place(reader)
                self._database.run(f"delete from {reader.role} where place = {place}")
                self._database.run(f"delete from classes where place = {place}")
        tell_ignored(intake.readers)
        if self._numbered:
            last = APART if intake.nodes is None else self._spans[intake.nodes].stop
            listed = self._database.table(f"select id from nodes where place < {last} order by place")["id"]
            self.add("features", id_column(numbered_ids(self._numbered, [joined(listed)]), "features"))
        self.number()
        self._number_classes()

    def _first_place(self, reader: Reader[Any]) -> int:
        return ROLES.index(reader.role) * APART + self._spans[reader].start

    def _is_first_row_header(self, reader: Reader[Any]) -> bool:
        """Judge a first row by the ids of the other sources, as `Reader.whole` does in memory."""
        role, first = reader.role, self._first_place(reader)
        last = first + len(self._spans[reader]) * (2 if role == "edges" else 1)
        before: dict[Role, tuple[Role, ...]] = {"edges": ROLES, "labels": ("nodes", "edges", "features")}
        others = [other for other in before.get(role, ("nodes", "edges")) if other != role]
        known = " union all ".join(f"select id from ({self._ids(other)})" for other in others)
        if role == "nodes":
            known += f" union all select id from ({self._ids(role)}) where place >= {last}"
        cut = first + (2 if role == "edges" else 1)
        own = f"select id from ({self._ids(role)}) where place >= {cut} and place < {last}"
        heads = f"select id from ({self._ids(role)}) where place >= {first} and place < {cut}"
        elsewhere, n_unknown, n_own, alone = self._database.row(
            f"""select exists (from ({own} union all {known}) semi join ({heads}) using (id)),
            (select count(*) from ({own}) anti join ({known}) using (id)),
            (select count(*) from ({own})), not exists ({known})"""
        )
        if role == "edges":
            if not elsewhere and n_own > 2 * FEW_EDGES:
                self._intake.tell_first_edge()
            return False
        only = not elsewhere and not alone and n_own > 0 and not n_unknown
        return reader.has_header(elsewhere=elsewhere, only_stranger=only, alone=alone)

    def _take(self, role: Role, piece: Any) -> None:
        if role in ("edges", "nodes"):
            self._require_plain(piece)
        if role == "edges":
            self.add("edges", piece.src, piece.dst, weight=piece.weight)
            if piece.nodes is not None:
                self.add("nodes", piece.nodes)
            return
        if role == "features" and self._features is not None:
            self._features.add(piece.values)
            if piece.ids is None:
                self._numbered = piece.values.shape[0]
                return
        places = self.add(role, piece.ids)
        if role == "labels":
            self._require_added(piece)
            self._database.insert("classes", pa.table({"place": places[piece.rows], "name": piece.names}))

    def _require_added(self, piece: Any) -> None:
        """Refuse answers that replace labels, which are only added up here."""
        for row, name in (
            zip(piece.rows.tolist(), piece.names.to_pylist(), strict=True) if piece.replaces else ()
        ):
            if piece.replaces.get(row, name) != name:
                msg = (
                    f"{piece.place(row)}: {name} replaces the label {piece.replaces[row]}, but for parts "
                    "labels are added up; write all to one file first (unseen.read_labels([...], graph).save(...))"
                )
                raise InputError(msg)

    def _require_plain(self, piece: Any) -> None:
        """Refuse what parts cannot keep: several types, and signs."""
        if getattr(piece, "types", None) is not None:
            kinds = self._kinds.setdefault(type(piece), {})
            kinds |= dict.fromkeys(piece.types.unique().to_pylist()[:2])
            if len(kinds) > 1:
                both = ", ".join(map(repr, list(kinds)[:2]))
                raise not_plain("several types (" + both + ")", piece.place(0))
        if isinstance(piece, Edges) and piece.weight is not None and len(piece.negative):
            row = int(piece.negative[0])
            weight = f"negative weights ({piece.weight[row]:g}; --drop-negative leaves such edges out)"
            raise not_plain(weight, piece.place(row))

    def add(self, role: Role, *ids: pa.Array, weight: Any = None) -> Ints:
        """Append rows of ids, and return their places."""
        count, first = len(ids[0]), self._rows[role]
        places = ROLES.index(role) * APART + len(ids) * np.arange(first, first + count)
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
    def _kind(self) -> str:
        """What ids are; integers and texts meet as texts."""
        return "varchar" if self._text else "bigint"

    def _ids(self, role: Role) -> str:
        """Return the query for all ids of a source and their places."""
        if role != "edges":
            return f"select cast(id as {self._kind}) as id, place from {role}"
        ends = (
            f"cast({end} as {self._kind}) as id, place + {k} as place" for k, end in enumerate(("src", "dst"))
        )
        return " union all ".join(f"select {columns} from edges" for columns in ends)

    def check(self) -> None:
        """Refuse nodes whose features or labels do not fit; say what stands alone."""
        intake = self._intake
        intake.require_nodes(self.n_nodes)
        start = ROLES.index("labels") * APART
        query = "select count(*), arg_min(id, place), coalesce(min(place), 0) from numbers where place >= ?"
        count, node, place = self._database.row(query, start)
        if count:
            reader = next(each for each in intake.labels if place - start in self._spans[each])
            self._refuse_apart(reader)
            row = place - start - self._spans[reader].start
            hint = HEADER_HINT if row == 0 and reader.layout is not None and not reader.names else ""
            intake.tell_label_only(self._place(reader, row), node, count, hint)
        if len(intake.labels) > 1:
            self._tell_contradiction()
        if intake.features is None:
            return
        several = "select number, min(place) as place from features group by number having count(*) > 1"
        query = f"select arg_min(id, several.place) from ({several}) several join numbers using (number)"
        (node,) = self._database.row(query)
        if node is not None:
            msg = f"{intake.features.name}: the node {node!r} has several rows; one row per node is allowed"
            raise InputError(msg)
        query = "select count(*), arg_min(id, number) from numbers anti join features using (number)"
        missing, node = self._database.row(query)
        if missing:
            if not self._numbered:
                self._refuse_apart(intake.features)
            raise missing_features(
                intake.features.name, missing, counted(self.n_nodes, "node"), node, self._numbered
            )

    def _refuse_apart(self, reader: Reader[Any]) -> None:
        """Raise the error for a file of labels or features without an id that the sources before it have."""
        role, span = reader.role, self._spans[reader]
        start = ROLES.index(role) * APART
        join = "features join numbers using (number)"
        if role == "labels":
            join = f"({self._ids(role)}) labels join numbers using (id)"
        own = f"""select id, number, numbers.place < {start} as shared, {role}.place as place from {join}
            where {role}.place between {start + span.start} and {start + span.stop - 1}"""
        shared, rows = self._database.row(f"select count(*) filter (shared), count(*) from ({own})")
        order = "place" if role == "labels" else "number"
        queries = f"numbers where place < {start} order by number", f"({own}) order by {order}"
        known, others = (
            self._database.table(f"select id from {query} limit 3")["id"].to_pylist() for query in queries
        )
        if not shared and rows > 1 and known:
            raise no_common_id(self._intake.edges.name, known, reader.name, others)

    def _place(self, reader: Reader[Any], row: int) -> str:
        """Return where a row is; the source is read again for it."""
        for batch in reader.source.batches(self._n_bytes):
            if isinstance(batch, Table) and row < batch.n_rows:
                return batch.place(row)
            row -= batch.n_rows if isinstance(batch, Table) else 0
        return f"{reader.name}, row {row + 1}"

    def _tell_contradiction(self) -> None:
        """Name the first node that files label differently, with its labels in each, and how many such nodes are."""
        readers, start = self._intake.labels, ROLES.index("labels") * APART
        later = (f"(classes.place >= {start + self._spans[reader].start})::int" for reader in readers[1:])
        labels = self._database.table(
            f"""with own as (
                select number, numbers.id, {" + ".join(later)} as source, list_sort(list(distinct name)) as names
                from classes join ({self._ids("labels")}) listed using (place) join numbers using (id)
                group by all),
            odd as (select number from own group by number having count(distinct names) > 1)
            select id, source, names, (select count(*) from odd) as count from own
            where number = (select min(number) from odd) order by source"""
        ).to_pylist()
        if labels:
            named = {readers[row["source"]].name: row["names"] for row in labels}
            tell_contradiction(labels[0]["id"], named, labels[0]["count"])

    def sorted_rows(self, symmetrize: Symmetrize) -> RowFiles:
        """Write the rows of the adjacency, both directions of every edge, repeated pairs combined."""
        if symmetrize == "error":
            self._refuse_repeats()
        (weighted,) = self._database.row("select count(weight) > 0 from pairs")
        weight = ", coalesce(weight, 1::double) as weight" if weighted else ""
        order = "i, j, place" if weighted and symmetrize == "sum" else "i, j"
        query = f"""select i, j{weight}
            from (from pairs union all select j, i, weight, place from pairs where i <> j) order by {order}"""
        rows = RowFiles(self._work, self.n_nodes, weighted=weighted or symmetrize == "sum")
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

    def _number_classes(self) -> None:
        """Give classes their numbers, in the order of their names, and nodes their classes."""
        names = sorted(self._database.table("select distinct name from classes")["name"].to_pylist())
        self._database.run("create table class_numbers (name varchar, class bigint)")
        numbered = {"name": pa.array(names, pa.large_string()), "class": np.arange(len(names))}
        self._database.insert("class_numbers", pa.table(numbered))
        self._database.run(
            f"""create table labelled as select distinct number as node, class
            from classes join class_numbers using (name)
            join ({self._ids("labels")}) own using (place) join numbers using (id)"""
        )
        self._classes = names

    def write(self, inside: Path, start: int, stop: int) -> int:
        """Write ids, features and labels of a part, and return how many of its nodes have a label."""
        inside.mkdir()
        part = f"where number >= {start} and number < {stop} order by number"
        schema = pa.schema({"node": pa.large_string() if self._text else pa.int64()})
        with pq.ParquetWriter(inside / "nodes.parquet", schema) as writer:
            for ids in self._database.rows(f"select id as node from numbers {part}"):
                writer.write_table(ids)
        if self._features is not None:
            query = f"select place - {ROLES.index('features') * APART} as row from features {part}"
            pieces = (piece["row"].to_numpy() for piece in self._database.rows(query))
            self._features.write(inside, pieces, stop - start)
        if not self._intake.labels:
            return 0
        labels = self._database.table(
            f"select node, class from labelled where node >= {start} and node < {stop} order by all"
        )
        nodes = labels["node"].to_numpy() - start
        np.save(inside / "label_rows.npy", nodes)
        np.save(inside / "label_classes.npy", labels["class"].to_numpy())
        return len(np.unique(nodes))

    def meta(self, parts: list[PartMeta]) -> Meta:
        """Return what META.json says, and say what was read and left out."""
        report = self._intake.report
        warn_of_missing_words(report.missing_words)
        numbers = {
            "node": self.n_nodes,
            "edge": self.n_edges,
            "repeat": self.repeats,
            "self-loop": self.self_loops,
        }
        counts = [counted(n, noun) for noun, n in numbers.items()] + report.losses()
        logger.info("partitioned %s: %s", self._intake.edges.name, ", ".join(counts))
        features = None if self._features is None else self._features.described
        return Meta(self.n_nodes, self.n_edges, not self._text, parts, features, self._classes)
