"""A store in one file: what is written, and all that is refused of what somebody made."""

import gzip
import io
import os
import random
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from memfs.core.errors import MemfsError, NotFoundError, StoreError
from memfs.importers import export_format

FILES = {"config.yaml": b"memfs: 1\n", "blocks/a.md": b"text\n", "archive/2026-05/p.md": b"\xff"}


def pack(members: dict[str, bytes] | None = None) -> bytes:
    return export_format.pack(FILES if members is None else members, "project", {"blocks": 1})


def written(tmp_path: Path, data: bytes) -> str:
    path = tmp_path / "memory"
    path.write_bytes(data)
    return str(path)


def zipped(*members: tuple[str, bytes], kind: int = 0) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members:
            info = zipfile.ZipInfo("x")
            info.filename = info.orig_filename = name
            info.external_attr = kind << 16
            made.writestr(info, data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def tarred(*members: tuple[str, bytes], kind: bytes = tarfile.REGTYPE) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as made:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "blocks/a.md"
            info.size = len(data) if kind == tarfile.REGTYPE else 0
            made.addfile(info, io.BytesIO(data))
    return out.getvalue()


def test_what_is_packed_is_read_again(tmp_path: Path) -> None:
    assert export_format.read(written(tmp_path, pack())) == export_format.Bundle(
        FILES, "project", 0
    )


def test_the_same_files_are_the_same_bytes() -> None:
    assert pack() == pack(dict(reversed(FILES.items())))


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_only_its_owner_may_read_it_also_over_an_old_file(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "m.zip"
    path.write_text("old")
    path.chmod(0o666)
    before = os.umask(umask)
    try:
        export_format.save(str(path), b"new")
    finally:
        os.umask(before)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o600)
    assert not list(tmp_path.glob("*.tmp"))
    assert not list(tmp_path.glob(".*"))


def test_where_it_cannot_be_written_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("x")
    for path, what in (("there", "already exists"), ("", "is a folder"), ("no/m", "no folder")):
        with pytest.raises(MemfsError, match=what):
            export_format.check_target(str(tmp_path / path), force=False)
    export_format.check_target(str(tmp_path / "there"), force=True)


UNSAFE = (
    "../a.md",
    "blocks/../../a.md",
    "/etc/a.md",
    "C:/a.md",
    "c:a.md",
    "blocks\\a.md",
    "..",
    "a//b",
    "blocks/./a.md",
    "blocks/a\n.md",
    "blocks/a\x7f.md",
    "blocks/" + "a" * 400,
    "a\0b",
)


def refuse(tmp_path: Path, data: bytes, match: str) -> None:
    with pytest.raises(StoreError, match=match):
        export_format.read(written(tmp_path, data))


@pytest.mark.parametrize("name", UNSAFE)
def test_names_that_could_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    for make in (zipped, tarred) if "\0" not in name else (zipped,):
        refuse(tmp_path, make(("config.yaml", b""), (name, b"x")), "cannot import")


@pytest.mark.parametrize("make", [zipped, tarred])
@pytest.mark.parametrize("name", ["blocks/A.md", "./blocks/a.md"])
def test_names_that_are_one_on_some_disks_are_refused(
    tmp_path: Path, make: Callable[..., bytes], name: str
) -> None:
    refuse(tmp_path, make(("blocks/a.md", b"1"), (name, b"2")), "cannot import")


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_links_and_devices_in_a_zip_are_refused(tmp_path: Path, kind: int) -> None:
    data = zipped(("blocks/a.md", b"/etc/passwd"), kind=kind)
    refuse(tmp_path, data, "a link, a device")


def changed(**fields: object) -> bytes:
    """A tar of a store in which one member is what these fields make of it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as made:
        for name, more in (("blocks/a.md", fields), ("config.yaml", {})):
            info = tarfile.TarInfo(name)
            info.size = 4
            for key, value in more.items():
                setattr(info, key, value)
            made.addfile(info, io.BytesIO(b"text"))
    return out.getvalue()


def moded(mode: int) -> bytes:
    """The same with any mode: `tarfile` writes none that says a kind of file."""
    data = bytearray(changed())
    data[100:108] = b"%07o\0" % mode
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    return bytes(data)


SPARSE = {"GNU.sparse.map": "0,4", "GNU.sparse.size": "4"}, {"GNU.sparse.realsize": "3"}
NO_PLAIN_FILE = {
    **{
        f"type {code}": changed(type=bytes([code]))
        for code in range(256)
        if chr(code) not in "\x000KLXgx"
    },
    **{str(each): changed(pax_headers=each) for each in SPARSE},
    "SCHILY": changed(pax_headers={"SCHILY.filetype": "sparse", "SCHILY.realsize": "100"}),
    **{
        f"mode {kind}": moded(kind | 0o644)
        for kind in (stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFLNK, stat.S_IFDIR)
    },
    "a folder with bytes": zipped(("blocks/a.md", b"text"), kind=stat.S_IFDIR),
    "a file named as a folder": zipped(("blocks/a/", b"text"), kind=stat.S_IFREG),
    "a folder named so, with bytes": zipped(("blocks/a/", b"text")),
}


def test_a_member_that_is_no_plain_file_is_refused(tmp_path: Path) -> None:
    for data in NO_PLAIN_FILE.values():
        refuse(tmp_path, data, "special file")


@pytest.mark.parametrize("mode", [0o644, stat.S_IFREG | 0o600, 0])
def test_a_plain_member_of_a_tar_is_read(tmp_path: Path, mode: int) -> None:
    assert export_format.read(written(tmp_path, moded(mode))).files["blocks/a.md"] == b"text"


def test_what_unpacks_to_too_much_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_format, "_FREE", 1 << 20)
    zeros = bytes(4 << 20)
    for data in (
        zipped(("blocks/a.md", zeros)),
        zipped(*((f"blocks/{n}.md", zeros[: 400 << 10]) for n in range(10))),
        gzip.compress(tarred(("blocks/a.md", zeros))),
        gzip.compress(tarred(("beside.bin", zeros), ("blocks/a.md", b""))),
    ):
        refuse(tmp_path, data, "too much for its size")


def test_more_files_than_anybody_has_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_format, "MOST_FILES", 10)
    members = [(f"blocks/{n}.md", b"") for n in range(11)]
    for make in (zipped, tarred):
        refuse(tmp_path, make(*members), "more than 10 files")
    with pytest.raises(StoreError, match="the export would have 11 files"):
        pack(dict(members))


def test_what_repeats_itself_can_be_imported_again(tmp_path: Path) -> None:
    members = {"blocks/a.md": bytes(20 << 20)}
    assert export_format.read(written(tmp_path, pack(members))).files == members


def test_a_header_that_lies_about_its_size_is_not_believed(tmp_path: Path) -> None:
    data = bytearray(zipped(("blocks/a.md", b"x" * 5000)))
    at = data.index(b"PK\1\2") + 24
    data[at : at + 4] = (10).to_bytes(4, "little")
    refuse(tmp_path, bytes(data), "cannot be read")


def test_an_encrypted_zip_is_refused(tmp_path: Path) -> None:
    data = bytearray(zipped(("blocks/a.md", b"x")))
    for mark, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(mark) + offset] |= 1
    refuse(tmp_path, bytes(data), "encrypted")


def test_a_file_that_is_not_as_the_manifest_says_is_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(pack())) as made:
        members = {name: made.read(name) for name in made.namelist()}
    for name, data in (("blocks/a.md", b"other"), ("blocks/b.md", b"added"), ("config.yaml", None)):
        changed = {**members, f".agent-memory/{name}": data}
        kept = [(key, value) for key, value in changed.items() if value is not None]
        refuse(tmp_path, zipped(*kept), name)


@pytest.mark.parametrize("text", [b"{}", b"[", b"[]", b'{"memfs": 2, "tier": "", "files": {}}'])
def test_a_manifest_of_another_kind_is_refused(tmp_path: Path, text: bytes) -> None:
    data = zipped(("blocks/a.md", b""), ("manifest.json", text))
    refuse(tmp_path, data, r"manifest\.json in|has export format 2")


@pytest.mark.parametrize(
    "top",
    ["", "./", ".agent-memory/", "./.agent-memory/", "memory/", "home/me/shop/.agent-memory/"],
)
def test_a_folder_that_somebody_packed_is_read(tmp_path: Path, top: str) -> None:
    members = [(f"{top}{name}", data) for name, data in FILES.items()]
    for data in (zipped(*members), tarred(*members), gzip.compress(tarred(*members))):
        assert export_format.read(written(tmp_path, data)) == export_format.Bundle(FILES, "", 0)


def test_what_lies_beside_the_store_is_counted(tmp_path: Path) -> None:
    beside = ("__MACOSX/._a", b""), ("src/a.py", b"")
    found = export_format.read(
        written(tmp_path, zipped((".agent-memory/blocks/a.md", b"x"), *beside))
    )
    assert found == export_format.Bundle({"blocks/a.md": b"x"}, "", 2)


def test_no_store_and_two_stores_are_refused(tmp_path: Path) -> None:
    for data, what in (
        (zipped(("a.py", b"")), "contains no store"),
        (
            zipped(("a/.agent-memory/blocks/x.md", b""), ("b/.agent-memory/config.yaml", b"")),
            "more",
        ),
        (zipped(), "contains no store"),
        (b"", "contains no store|cannot be read"),
        (b"just some text" * 100, "cannot be read"),
    ):
        refuse(tmp_path, data, what)
    with pytest.raises(NotFoundError):
        export_format.read(str(tmp_path / "none"))
    with pytest.raises(MemfsError):
        export_format.read(str(tmp_path))


def test_a_damaged_file_is_refused_in_words_or_read(tmp_path: Path) -> None:
    chance = random.Random(7)  # noqa: S311 - not for a secret
    refused = 0
    for whole in (pack(), gzip.compress(tarred(*FILES.items())), tarred(*FILES.items())):
        for _ in range(150):
            data = bytearray(whole)
            for _ in range(chance.randrange(1, 4)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            if chance.random() < 0.3:
                del data[chance.randrange(len(data)) :]
            try:
                export_format.read(written(tmp_path, bytes(data)))
            except MemfsError:
                refused += 1
    assert refused > 200
