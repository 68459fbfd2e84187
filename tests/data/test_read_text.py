"""Text files as people write them: every odd but valid form gives the graph that was meant."""

from __future__ import annotations

import csv
import gzip
import io
import logging
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from unseen.data.read import read_label_list


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def edges_of(graph: unseen.Graph) -> dict[frozenset[str], float]:
    coo = graph.adjacency.tocoo()
    ids = graph.node_ids
    return {frozenset((ids[i], ids[j])): w for i, j, w in zip(coo.row, coo.col, coo.data, strict=True)}


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
        ("e.txt", "a b\nb c\n"),
        ("e.txt", "  a   b\nb \t c  \n"),
        ("e.txt", "src dst\na b\nb c\n"),
        ("e.edgelist", "a b\nb c\n"),
        ("e.edgelist", "a, b\nb, c\n"),
        ("plain", "a b\nb c\n"),
        ("E.CSV", "a,b\nb,c\n"),
        ("e.csv", "src,dst,weight\na,b,1\nb,c,1.0\n"),
        ("e.csv", "a,b,1\nb,c,+1e0\n"),
        ("e.csv", "weight,src,dst\n1,a,b\n1,b,c\n"),
    ],
)
def test_one_graph_in_many_clothes(tmp_path: Path, name: str, content: str | bytes) -> None:
    graph = unseen.read_graph(write(tmp_path / name, content))
    assert edges_of(graph) == AB_BC
    assert sorted(graph.node_ids) == ["a", "b", "c"]


def test_blanks_separate_the_edge_lists_of_networkx(tmp_path: Path) -> None:
    (tmp_path / "e.edgelist").write_text("a;b c,d {}\nc,d e;f {}\n")
    assert unseen.read(tmp_path / "e.edgelist").graph.node_ids.tolist() == ["a;b", "c,d", "e;f"]


@pytest.mark.parametrize("name", ["e.csv.gz", "e.csv"])
def test_gzip_is_known_by_its_bytes(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, gzip.compress(b"src,dst\na,b\nb,c\n"))
    assert edges_of(unseen.read_graph(path)) == AB_BC


def test_ids_stay_as_they_are(tmp_path: Path) -> None:
    graph = unseen.read_graph(write(tmp_path / "e.csv", "src,dst\n007,7\n7,1e3\na b,ü\n+1,NA\nnull,1e3\n"))
    assert graph.node_ids.tolist() == ["007", "7", "1e3", "a b", "ü", "+1", "NA", "null"]


def test_digits_only_give_strings(tmp_path: Path) -> None:
    graph = unseen.read_graph(write(tmp_path / "e.csv", "007,08\n08,9\n"))
    assert graph.node_ids.tolist() == ["007", "08", "9"]


def test_quoted_cells_keep_what_is_in_them(tmp_path: Path) -> None:
    text = 'src,dst\n"a, x"," b"\n"say ""hi""","line\nbreak"\n"#no comment",z\n'
    graph = unseen.read_graph(write(tmp_path / "e.csv", text))
    assert graph.node_ids.tolist() == ["a, x", " b", 'say "hi"', "line\nbreak", "#no comment", "z"]


@pytest.mark.parametrize("last", ["b", '"b, c"'])
def test_blanks_around_an_empty_cell(tmp_path: Path, last: str) -> None:
    (tmp_path / "l.csv").write_text(f"note,label,node\nx , , {last}\nx ,red, a\n")
    labels = read_label_list(tmp_path / "l.csv")
    assert labels.node_ids.tolist() == [last.strip('"'), "a"]


def test_quoted_blanks_in_blank_separated_text(tmp_path: Path) -> None:
    graph = unseen.read_graph(write(tmp_path / "e.txt", '"a  b"   c\nc  d\n'))
    assert graph.node_ids.tolist() == ["a  b", "c", "d"]


def test_header_told(tmp_path: Path) -> None:
    path = write(tmp_path / "e.csv", "person,friend\na,b\n")
    assert unseen.read_graph(path, header=True).node_ids.tolist() == ["a", "b"]
    known = write(tmp_path / "k.csv", "src,dst\na,b\n")
    assert unseen.read_graph(known, header=False).node_ids.tolist() == ["src", "dst", "a", "b"]


def test_delimiter_told(tmp_path: Path) -> None:
    path = write(tmp_path / "e.csv", "a;b,c\nd;e,f\n")
    assert unseen.read_graph(path, delimiter=";").node_ids.tolist() == ["a", "b,c", "d", "e,f"]
    assert unseen.read_graph(path, delimiter=",").node_ids.tolist() == ["a;b", "c", "d;e", "f"]
    pipe = write(tmp_path / "p.txt", "a|b\n")
    assert unseen.read_graph(pipe, delimiter="|").node_ids.tolist() == ["a", "b"]


def test_header_settles_the_delimiter(tmp_path: Path) -> None:
    path = write(tmp_path / "e.csv", "src;dst\nSmith, J;Doe, A\n")
    assert unseen.read_graph(path).node_ids.tolist() == ["Smith, J", "Doe, A"]


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


def test_one_notice_says_what_was_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    edges = write(tmp_path / "e.csv", "a,b,1\nb,a,3\na,a,1\nc,d,0\nd,e,-1\n")
    labels = write(tmp_path / "l.csv", "node,label\na,x\nb,\n")
    graph = unseen.read_graph(edges, labels=labels, drop_negative=True)
    assert edges_of(graph) == {frozenset("ab"): 3.0, frozenset("a"): 1.0}
    (record,) = caplog.records
    assert record.getMessage() == (
        f"read {str(edges)!r}: 5 nodes, 2 edges, 1 repeat (the larger weight kept), 1 self-loop, 3 isolated nodes, "
        "4 unlabelled nodes, 1 edge of negative weight left out, 1 edge of weight 0 left out; edges taken as undirected"
    )


def test_policies_for_pairs_listed_twice(tmp_path: Path) -> None:
    path = write(tmp_path / "e.csv", "a,b,1\nb,a,3\nb,a,2\n")
    assert unseen.read_graph(path).adjacency.max() == 3
    assert unseen.read_graph(path, symmetrize="sum").adjacency.max() == 6
    with pytest.raises(unseen.InputError, match=r"the pair a - b is listed more than once"):
        unseen.read_graph(path, symmetrize="error")
    with pytest.raises(unseen.InputError, match=r"`symmetrize` must be .* got 'mean'"):
        unseen.read_graph(path, symmetrize="mean")  # type: ignore[arg-type]


def test_a_graph_without_edges(tmp_path: Path) -> None:
    graph = unseen.read_graph(write(tmp_path / "e.csv", "src,dst\n"), nodes=["only"])
    assert (graph.n_nodes, graph.n_edges, graph.node_ids.tolist()) == (1, 0, ["only"])


def test_other_columns_are_named_in_a_notice(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "unseen")
    text = "Source,Target,Type,Id,Weight\na,b,Undirected,1,2.5\nb,c,Undirected,2,1\n"
    graph = unseen.read_graph(write(tmp_path / "gephi.csv", text))
    assert graph.adjacency.max() == 2.5
    assert "gephi.csv: ignored columns: 'Type', 'Id'" in caplog.text


def test_rows_longer_than_a_block_of_the_parser(tmp_path: Path) -> None:
    long = "x" * 5_000_000
    graph = unseen.read_graph(write(tmp_path / "e.csv", f"a,b\nb,{long}\n{long},c\n"))
    assert [len(name) for name in graph.node_ids] == [1, 1, 5_000_000, 1]


def test_features_without_header_have_no_names(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "a,b\n")
    graph = unseen.read_graph(edges, features=write(tmp_path / "f.csv", "b,1,2\na,3,4\n"))
    assert np.asarray(graph.features).tolist() == [[3, 4], [1, 2]]
    assert graph.feature_names is None


def test_features_with_a_header_of_words(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "a,b\n")
    graph = unseen.read_graph(
        edges, features=write(tmp_path / "f.tsv", "paper\tmail\tweb site\nb\t1\t2\na\t3\t4\n")
    )
    assert graph.feature_names == ("mail", "web site")
    assert np.asarray(graph.features).tolist() == [[3, 4], [1, 2]]


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
