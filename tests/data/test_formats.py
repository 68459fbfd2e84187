"""A format is one entry of FORMATS: reading, converting and the command line then know it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import unseen
from unseen.data.convert import convert_file
from unseen.data.opened import File
from unseen.data.options import Options
from unseen.data.sources import FORMATS, Format, Role, written_format
from unseen.data.tables import Table
from unseen.errors import InputError


def read_arrows(file: File, role: Role, options: Options, n_bytes: int | None) -> Iterator[Table]:
    pairs = [line.split(" -> ") for line in file.read().decode().splitlines()]
    yield Table.of(file.name, {"src": [a for a, _ in pairs], "dst": [b for _, b in pairs]})


def write_arrows(graph: unseen.Graph, role: Role, path: Path) -> dict[Path, Callable[[Path], object]]:
    ids, upper = graph.node_ids, graph.adjacency.tocoo()
    lines = [f"{ids[i]} -> {ids[j]}\n" for i, j in zip(upper.row, upper.col, strict=True) if i <= j]
    return {path: lambda temporary: temporary.write_text("".join(lines))}


@pytest.fixture
def arrows() -> Iterator[None]:
    entry = Format("arrows", (".arrows",), ("edges",), read_arrows, {"edges": write_arrows})
    FORMATS.append(entry)
    yield
    FORMATS.remove(entry)


@pytest.mark.usefixtures("arrows")
def test_one_entry_is_read_and_written(tmp_path: Path) -> None:
    (tmp_path / "g.arrows").write_text("a -> b\nb -> c\n")
    assert unseen.read_graph(tmp_path / "g.arrows").node_ids.tolist() == ["a", "b", "c"]
    convert_file(tmp_path / "g.arrows", tmp_path / "g.csv")
    assert (tmp_path / "g.csv").read_text() == "src,dst\na,b\nb,c\n"
    convert_file(tmp_path / "g.csv", tmp_path / "back.arrows")
    assert (tmp_path / "back.arrows").read_text() == "a -> b\nb -> c\n"


@pytest.mark.usefixtures("arrows")
def test_the_partition_reads_it(tmp_path: Path) -> None:
    from unseen.engine.partition import partition

    (tmp_path / "g.arrows").write_text("a -> b\nb -> c\nc -> a\n")
    assert partition(tmp_path / "g.arrows", tmp_path / "parts", parts=2).n_nodes == 3


@pytest.mark.usefixtures("arrows")
def test_messages_list_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"use one of .*\.arrows"):
        written_format(tmp_path / "g.xyz", "edges")
    (tmp_path / "g.xyz").write_bytes(b"\0")
    with pytest.raises(InputError, match=r"known are .*\.arrows"):
        unseen.read_graph(tmp_path / "g.xyz")


@pytest.mark.usefixtures("arrows")
def test_a_command_reads_it(cli: Callable, tmp_path: Path) -> None:
    (tmp_path / "g.arrows").write_text("a -> b\nb -> c\nc -> a\n")
    ran = cli("embed", tmp_path / "g.arrows", "-m", "mfdw", "--dim", "2", "-o", tmp_path / "v.csv.parquet")
    assert ran.code == 0, ran.err
