"""What a build may replace, what it removes, and what it leaves alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from site_builder.atomic import put
from site_builder.config import MANIFEST
from site_builder.errors import SiteError
from site_builder.write import Output, Written, claim, settle


def write(folder: Path, files: dict[str, bytes]) -> Written:
    """What a build does with its files."""
    removed = claim(folder, files)
    output = Output(folder)
    changed = sum(output.put(name, data)[1] for name, data in files.items())
    return Written(changed, len(files) - changed, removed + settle(folder, files))


def stamps(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mtime_ns for file in folder.rglob("*") if file.is_file()}


def test_files_arrive_in_folders_made_for_them(tmp_path: Path) -> None:
    done = write(tmp_path / "out", {"index.html": b"a", "deep/er/x.html": b"b"})
    assert (tmp_path / "out" / "deep" / "er" / "x.html").read_bytes() == b"b"
    assert (done.changed, done.same, done.removed) == (2, 0, 0)


def test_an_equal_file_is_not_touched(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, {"a.html": b"a", "b.html": b"b"})
    before = stamps(out)
    done = write(out, {"a.html": b"a", "b.html": b"B"})
    after = stamps(out)
    assert (done.changed, done.same) == (1, 1)
    assert before["a.html"] == after["a.html"]
    assert before["b.html"] != after["b.html"]
    assert before[MANIFEST] == after[MANIFEST]


def test_a_page_that_is_gone_takes_its_file_and_its_empty_folder_with_it(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, {"a.html": b"a", "old/b.html": b"b", "kept/c.html": b"c"})
    (out / "kept" / "mine.txt").write_text("mine")
    assert write(out, {"a.html": b"a"}).removed == 2
    assert not (out / "old").exists()
    assert [file.name for file in (out / "kept").iterdir()] == ["mine.txt"]


def test_what_cannot_be_written_is_told_under_the_name_that_it_was_to_have(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    for name in ("taken", "n" * 256):
        with pytest.raises(OSError, match=rf"/{name}'$"):
            put(tmp_path / name, b"a")
    assert [file.name for file in tmp_path.iterdir()] == ["taken"]


def test_a_folder_with_files_of_others_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(SiteError, match="not empty"):
        write(tmp_path, {"index.html": b"a"})
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_foreign_file_in_our_folder_is_never_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, {"a.html": b"a"})
    (out / "b.html").write_bytes(b"mine")
    with pytest.raises(SiteError, match=r"b\.html is in the way"):
        write(out, {"a.html": b"A", "b.html": b"b"})
    assert (out / "b.html").read_bytes() == b"mine"
    assert (out / "a.html").read_bytes() == b"a"


def test_a_manifest_that_points_outside_removes_nothing_there(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, {"a.html": b"a"})
    (tmp_path / "precious").write_text("x")
    (out / MANIFEST).write_text(json.dumps({"files": ["a.html", "../precious", str(tmp_path / "precious")]}))
    write(out, {"a.html": b"a"})
    assert (tmp_path / "precious").exists()


def test_a_build_killed_between_claim_and_files_is_taken_up_by_the_next(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, {"a.html": b"a"})
    (out / MANIFEST).write_text(json.dumps({"files": ["a.html", "b.html"]}))
    (out / "b.html").write_bytes(b"half")
    write(out, {"a.html": b"a", "b.html": b"whole"})
    assert (out / "b.html").read_bytes() == b"whole"


def test_a_manifest_that_cannot_be_read_stops_the_build(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("{")
    with pytest.raises(SiteError, match="cannot be read"):
        write(tmp_path, {"a.html": b"a"})


def test_the_output_folder_may_not_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(SiteError, match="is a file"):
        write(tmp_path / "out", {"a.html": b"a"})


def test_what_a_killed_build_left_half_written_is_swept_and_what_a_living_one_writes_is_not(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    write(out, {"deep/a.html": b"a"})
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    half = out / "deep" / f".site_builder-{ended.pid}-x"
    other = out / "deep" / f".site_builder-{os.getppid()}-x"
    half.write_bytes(b"hal")
    other.write_bytes(b"hal")
    write(out, {"deep/a.html": b"a"})
    assert not half.exists()
    assert other.exists()


def test_what_was_claimed_and_not_written_is_let_go(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, {"a.html": b"a", "steps/a.js": b"1"})
    claim(out, {"a.html", "steps/a.js", "steps/b.js"})
    assert settle(out, {"a.html"}) == 1
    assert not (out / "steps").exists()
    assert json.loads((out / MANIFEST).read_text())["files"] == ["a.html"]


def test_a_file_that_is_known_to_lie_there_is_neither_read_nor_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    seen, changed = Output(out).put("a.html", b"a")
    assert changed
    assert seen.still((out / "a.html").stat())
    (out / "a.html").chmod(0)
    assert Output(out, {"a.html": seen}).put("a.html", b"a") == (seen, False)
    assert Output(out, {"a.html": seen}).put("a.html", b"b")[1]
    assert (out / "a.html").read_bytes() == b"b"


def test_a_file_of_others_where_a_folder_is_to_be_is_told_before_anything_is_claimed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, {"a.html": b"a"})
    (out / "e").write_text("mine")
    with pytest.raises(SiteError, match="in the way"):
        write(out, {"a.html": b"A", "e/index.html": b"e"})
    write(out, {"a.html": b"A"})
    assert (out / "e").read_text() == "mine"
    assert (out / "a.html").read_bytes() == b"A"


def test_a_file_of_ours_may_become_a_folder_and_the_other_way_round(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for files in ({"x": b"file"}, {"x/index.html": b"in a folder"}, {"x": b"file"}):
        write(out, files)
        assert {name: (out / name).read_bytes() for name in files} == files


def test_a_link_leads_nothing_out_of_the_folder(tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    elsewhere.mkdir()
    write(out, {"a.html": b"a"})
    (out / "lnk").symlink_to(elsewhere)
    (out / "d.html").symlink_to("nowhere")
    for name in ("lnk/index.html", "d.html"):
        with pytest.raises(SiteError, match="in the way"):
            write(out, {"a.html": b"a", name: b"x"})
    assert list(elsewhere.iterdir()) == []
    assert (out / "d.html").is_symlink()


def test_an_edit_with_its_time_set_back_is_seen(tmp_path: Path) -> None:
    seen, _ = Output(tmp_path).put("a.html", b"ours")
    file = tmp_path / "a.html"
    before = file.stat()
    with file.open("r+b") as stream:
        stream.write(b"MINE")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not seen.still(file.stat())
