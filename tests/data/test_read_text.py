"""Text files as people write them: every odd but valid form gives the graph that was meant."""

from __future__ import annotations

import csv
import gzip
import io
import logging
import os
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from reading import edges_of, write
from unseen.data.read import read_label_list

AB_BC = {frozenset("ab"): 1.0, frozenset("bc"): 1.0}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("e.csv", "src,dst\na,b\nb,c\n"),
        ("e.csv", "a,b\nb,c"),
        ("e.csv", "Source,Target\na,b\nb,c\n"),
        ("e.csv", "dst,src\nb,a\nc,b\n"),
        ("e.csv", "src, dst\na, b\n b ,c\n"),
        ("e.csv", "# by hand\n\nsrc,dst\n  # more\na,b\n\nb,c\n\n"),
        ("e.csv", b"\xef\xbb\xbfsrc,dst\r\na,b\r\nb,c\r\n"),
        ("e.csv", b"a,b\rb,c\r"),
        ("e.csv", '"src","dst"\n"a","b"\n"b", "c"\n'),
        ("e.csv", "a;b\nb;c\n"),
        ("e.csv", "a\tb\nb\tc\n"),
        ("e.tsv", "a\tb\nb\tc\n"),
        ("e.txt", "  a   b\nb \t c  \n"),
        ("e.txt", "src dst\na b\nb c\n"),
        ("e.edgelist", "a b\nb c\n"),
        ("e.edgelist", "a, b\nb, c\n"),
        ("plain", "a b\nb c\n"),
        ("E.CSV", "a,b\nb,c\n"),
        ("e.csv", "src,dst,weight\na,b,1\nb,c,1.0\n"),
        ("e.csv", "a,b,1\nb,c,+1e0\n"),
        ("e.csv", "weight,src,dst\n1,a,b\n1,b,c\n"),
        ("e.csv.gz", gzip.compress(b"a,b\nb,c\n", mtime=0)),
        ("e.csv", gzip.compress(b"a,b\nb,c\n", mtime=0)),
    ],
)
def test_one_graph_in_many_clothes(tmp_path: Path, name: str, content: str | bytes) -> None:
    assert edges_of(unseen.read_graph(write(tmp_path / name, content))) == AB_BC


@pytest.mark.parametrize(
    ("name", "content", "options", "ids"),
    [
        ("e.csv", "007,7\n7,1e3\na b,ü\n+1,NA\nnull,7\n", {}, ["007", "7", "1e3", "a b", "ü", "+1", "NA", "null"]),
        ("e.csv", "007,08\n08,9\n", {}, ["007", "08", "9"]),
        ("e.csv", 'src,dst\n"a, x"," b"\n"#no c","line\nbreak"\n', {}, ["a, x", " b", "#no c", "line\nbreak"]),
        ("e.csv", 'src,dst\n"say ""hi""",z\n', {}, ['say "hi"', "z"]),
        ("e.csv", '"a\nb",c\nd,"e\n# f"\n#x "\ng,h\n', {}, ["a\nb", "c", "d", "e\n# f", "g", "h"]),
        ("e.csv", '5 "inch,b\nb , c\n6 "inch ,d\n', {}, ['5 "inch', "b", "c", '6 "inch', "d"]),
        ("e.csv", '" a",b\nb," a"\n" a",c\n', {}, [" a", "b", "c"]),
        ("e.txt", '"a  b"   c\nc  d\n', {}, ["a  b", "c", "d"]),
        ("e.edgelist", "a;b c,d {}\nc,d e;f {}\n", {}, ["a;b", "c,d", "e;f"]),
        ("e.csv", "src;dst\nSmith, J;Doe, A\n", {}, ["Smith, J", "Doe, A"]),
        ("e.csv", "a;b,c\nd;e,f\n", {"delimiter": ";"}, ["a", "b,c", "d", "e,f"]),
        ("e.csv", "a;b,c\nd;e,f\n", {"delimiter": ","}, ["a;b", "c", "d;e", "f"]),
        ("e.txt", "a|b\n", {"delimiter": "|"}, ["a", "b"]),
        ("e.csv", "person,friend\na,b\n", {"header": True}, ["a", "b"]),
        ("e.csv", "src,dst\na,b\n", {"header": False}, ["src", "dst", "a", "b"]),
        ("e.csv", f"a,b\nb,{'x' * 5_000_000}\n", {}, ["a", "b", "x" * 5_000_000]),
        ("e.txt", f"a b\nc{' ' * 1_000_000}d\n", {}, ["a", "b", "c", "d"]),
        ("e.csv", f'a,b\nc{chr(9) * 1_000_000},"d"\n', {}, ["a", "b", "c", "d"]),
    ],
    ids=lambda value: str(value)[:20],
)  # fmt: skip
def test_ids_stay_as_they_are(
    tmp_path: Path, name: str, content: str, options: dict[str, Any], ids: list[str]
) -> None:
    assert unseen.read_graph(write(tmp_path / name, content), **options).node_ids.tolist() == ids


@pytest.mark.parametrize("last", ["b", '"b, c"'])
def test_blanks_around_an_empty_cell(tmp_path: Path, last: str) -> None:
    path = write(tmp_path / "l.csv", f"note,label,node\nx , , {last}\nx ,red, a\n")
    assert read_label_list(path).node_ids.tolist() == [last.strip('"'), "a"]


def test_lines_that_begin_with_a_hash_are_comments_where_they_cannot_be_data(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "unseen")
    text = "# sure\n#one column\nx,#y\n#y,#z\n# c, d\n#z,#x\n#x,w\n#three,columns,here\nw,#y\n"
    data = unseen.read(write(tmp_path / "e.csv", text))
    pairs = [("x", "#y"), ("#y", "#z"), ("#z", "#x"), ("#x", "w"), ("w", "#y")]
    assert set(edges_of(data.graph)) == set(map(frozenset, pairs))
    assert data.report.comments == 2
    assert "2 comment lines below the first line of data" in caplog.text
    labels = write(tmp_path / "l.csv", "node,label\n#y,red\n# z,blue\n")
    assert unseen.read_labels(labels, data.graph).labelled.tolist() == [1]
    assert "l.csv: 1 comment line below the first line of data" in caplog.text


def test_order_of_first_appearance(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "src,dst\nc,b\na,c\n")
    nodes = write(tmp_path / "n.txt", "node\nz z\nb\n")
    features = write(tmp_path / "f.csv", "node,x\nf,6\na,1\nb,2\nc,3\nl,9\nz z,7\n")
    labels = write(tmp_path / "l.csv", "node,label\nl,red\na,\n")
    graph = unseen.read_graph(edges, nodes, features, labels)
    assert graph.node_ids.tolist() == ["z z", "b", "c", "a", "f", "l"]
    assert np.asarray(graph.features)[:, 0].tolist() == [7, 2, 3, 1, 6, 9]
    assert graph.feature_names == ("x",)
    assert edges_of(graph) == {frozenset("bc"): 1.0, frozenset("ac"): 1.0}
    alone = unseen.read_graph(write(edges, "src,dst\n"), nodes=["only"])
    assert (alone.n_nodes, alone.n_edges, alone.node_ids.tolist()) == (1, 0, ["only"])


def test_one_notice_says_what_was_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    edges = write(tmp_path / "e.csv", "a,b,1\nb,a,3\na,a,1\nc,d,0\nd,e,-1\n")
    labels = write(tmp_path / "l.csv", "node,label\na,x\nb,\n")
    graph = unseen.read_graph(edges, labels=labels, drop_negative=True)
    assert edges_of(graph) == {frozenset("ab"): 3.0, frozenset("a"): 1.0}
    assert caplog.messages == [
        f"read {str(edges)!r}: 5 nodes, 2 edges, 1 repeat (the larger weight kept), 1 self-loop, 3 isolated nodes, "
        "4 unlabelled nodes, 1 edge of negative weight left out, 1 edge of weight 0 left out; edges taken as undirected"
    ]


def test_policies_for_pairs_listed_twice(tmp_path: Path) -> None:
    path = write(tmp_path / "e.csv", "a,b,1\nb,a,3\nb,a,2\n")
    assert unseen.read_graph(path).adjacency.max() == 3
    assert unseen.read_graph(path, symmetrize="sum").adjacency.max() == 6
    for wrong in ("error", "mean"):
        with pytest.raises(unseen.InputError, match="symmetrize"):
            unseen.read_graph(path, symmetrize=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("directed", [True, False])
def test_a_weight_of_zero_is_counted_and_left_out(tmp_path: Path, directed: bool) -> None:
    data = unseen.read(write(tmp_path / "e.csv", "src,dst,weight\na,b,0\nb,c,2\nc,d,1\n"), directed=directed)
    assert (data.graph.n_edges, data.graph.n_nodes, data.report.dropped_zero) == (2, 4, 1)


def test_features_with_and_without_names(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "a,b\n")
    for content, names in (
        ("b,1,2\na,3,4\n", None),
        ("paper,mail,web site\nb,1,2\na,3,4\n", ("mail", "web site")),
    ):
        graph = unseen.read_graph(edges, features=write(tmp_path / "f.csv", content))
        assert np.asarray(graph.features).tolist() == [[3, 4], [1, 2]]
        assert graph.feature_names == names


def test_a_delimiter_is_taken_where_it_fits(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.txt", "a b;c\nc;d\n")
    nodes = write(tmp_path / "n.txt", "z z\n")
    features = write(tmp_path / "f.csv", "node,x\na b,1\nc,2\nd,3\nz z,4\n")
    labels = write(tmp_path / "l.tsv", "node\tlabel\na b\tred; or so\nc\tblue\n")
    graph = unseen.read_graph(edges, nodes, features, labels, delimiter=";")
    assert sorted(graph.node_ids) == ["a b", "c", "d", "z z"]
    assert np.asarray(graph.features).ravel().tolist() == [4, 1, 2, 3]
    assert unseen.read_labels(labels, graph, delimiter=";").classes == ("blue", "red; or so")


@pytest.mark.parametrize("is_packed", [False, True])
def test_pipes_are_read_once(tmp_path: Path, is_packed: bool) -> None:
    pipe, data = tmp_path / "labels", b"node,label\na,x\nb,y\n"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(gzip.compress(data) if is_packed else data,))
    writer.start()
    labels = unseen.read(write(tmp_path / "e.csv", "a,b\n"), labels=pipe).labels
    writer.join()
    assert labels is not None
    assert labels.classes == ("x", "y")


CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r#"), min_size=1, max_size=6)


@pytest.mark.slow
@settings(max_examples=80, deadline=None, derandomize=True, database=None)
@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=6), st.sampled_from([",", ";", "\t", " "]))
def test_any_id_survives_in_quotes(pairs: list[tuple[str, str]], delimiter: str) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([("src", "dst"), *pairs])
    with tempfile.TemporaryDirectory() as folder:
        graph = unseen.read_graph(write(Path(folder) / "e.csv", text.getvalue()))
    assert graph.node_ids.tolist() == list(dict.fromkeys(cell for pair in pairs for cell in pair))
    assert set(edges_of(graph)) == {frozenset(pair) for pair in pairs}
