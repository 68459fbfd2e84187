"""Archives that must not be trusted."""

from __future__ import annotations

import io
import stat
import struct
import zipfile

import pytest

import unseen
from unseen.data.download import read_members


def zipped(members: dict[str, bytes | str], **options: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", **options) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_only_what_was_asked_for():
    content = zipped({"cora/graph.txt": "0 1", "cora/group.txt": "0 0", "cora/": ""})
    assert read_members(content, ["cora/group.txt"], "a.zip") == {"cora/group.txt": b"0 0"}


@pytest.mark.parametrize(
    "name",
    ["../evil", "cora/../../evil", "/etc/evil", "..\\evil", "C:\\evil", "C:/evil", "\\\\host\\evil", ".."],
)
def test_members_outside_are_refused(name):
    content = zipped({"cora/graph.txt": "0 1", name: "gotcha"})
    with pytest.raises(unseen.DatasetError, match=r"a\.zip is refused: its member .* points outside"):
        read_members(content, ["cora/graph.txt"], "a.zip")


def test_links_are_refused():
    link = zipfile.ZipInfo("cora/graph.txt")
    link.create_system = 3
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(link, "/etc/hostname")
    with pytest.raises(unseen.DatasetError, match=r"its member 'cora/graph\.txt' is a link"):
        read_members(buffer.getvalue(), ["cora/graph.txt"], "a.zip")


def bomb(megabytes: int) -> bytes:
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("cora/graph.txt", "w") as member,
    ):
        for _ in range(megabytes):
            member.write(bytes(2**20))
    return buffer.getvalue()


def test_bomb_that_tells_its_size_is_refused_before_it_is_read():
    content = bomb(100)
    assert len(content) < 2**20
    with pytest.raises(unseen.DatasetError, match="would unpack to 104857600 bytes, more than 67108864"):
        read_members(content, ["cora/graph.txt"], "a.zip")


def test_bomb_that_claims_to_be_small_does_not_unpack():
    content = bytearray(bomb(10))
    directory = content.rindex(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = struct.pack("<I", 50)  # the size that the directory claims
    with pytest.raises(unseen.DatasetError, match=r"cannot be read|is refused"):
        read_members(bytes(content), ["cora/graph.txt"], "a.zip", max_bytes=2**20)


def test_gigabytes_in_many_members_are_refused():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for k in range(1001):
            archive.writestr(f"f{k}", "")
    with pytest.raises(unseen.DatasetError, match="it has 1001 members, more than 1000"):
        read_members(buffer.getvalue(), ["f1"], "a.zip")


def test_member_that_is_not_there():
    with pytest.raises(unseen.DatasetError, match=r"a\.zip has no member 'cora/graph\.txt'"):
        read_members(zipped({"x": "y"}), ["cora/graph.txt"], "a.zip")


@pytest.mark.parametrize(
    "content", [b"", b"no zip file", zipped({"a": "b" * 100})[:60]], ids=["empty", "text", "cut"]
)
def test_not_an_archive(content):
    with pytest.raises(unseen.DatasetError, match=r"a\.zip cannot be read"):
        read_members(content, ["a"], "a.zip")


def test_damaged_and_encrypted_members():
    content = bytearray(zipped({"a": "b" * 100}))
    content[40] ^= 0xFF  # a byte of the member: its checksum no longer fits
    with pytest.raises(unseen.DatasetError, match=r"a\.zip cannot be read"):
        read_members(bytes(content), ["a"], "a.zip")
    content = bytearray(zipped({"a": "b" * 100}))
    content[6] |= 1
    content[content.rindex(b"PK\x01\x02") + 8] |= 1  # marked as encrypted
    with pytest.raises(unseen.DatasetError, match=r"a\.zip cannot be read"):
        read_members(bytes(content), ["a"], "a.zip")
