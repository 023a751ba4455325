"""Output of any length is kept in bounded memory without losing its ends or half a character."""

from itertools import count, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_cli.lib.bounded_output import Output, without_broken_end, without_broken_start

TEXT = st.text(st.sampled_from("aü漢🎉\n"), max_size=120)


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    ends = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(ends)]


def written(directory: str, data: bytes, cuts: list[int], **limits: int) -> Output:
    names = count()
    output = Output(lambda: Path(directory) / f"{next(names)}", **limits)
    for piece in pieces(data, cuts):
        output.write(piece)
    return output


@settings(deadline=None)
@given(TEXT, st.lists(st.integers(0, 500)), st.integers(4, 40), st.integers(4, 40))
def test_head_and_tail_are_never_lost_and_no_character_is_cut(
    text: str, cuts: list[int], head: int, tail: int
) -> None:
    data = text.encode()
    with TemporaryDirectory() as directory:
        output = written(directory, data, cuts, head=head, tail=tail)
        whole = output.whole()
        assert output.size == len(data)
        assert output.lines == text.count("\n")
        assert "\ufffd" not in whole.text
        if len(data) <= head + tail:
            assert whole.text == text
            assert output.path is None
            return
        first = without_broken_end(data[:head]).decode()
        last = without_broken_start(data[-tail:]).decode()
        assert whole.text.startswith(first + "\n[… ")
        assert whole.text.endswith(" …]\n" + last)
        assert whole.left_out == len(data) - len(first.encode()) - len(last.encode())
        assert len(first.encode()) > head - 4
        assert len(last.encode()) > tail - 4
        assert output.path is not None
        assert output.path.read_bytes() == data
        output.close()


@settings(deadline=None)
@given(TEXT, st.lists(st.integers(0, 500)), st.integers(30, 200))
def test_reading_bit_by_bit_gives_everything_exactly_once(
    text: str, cuts: list[int], room: int
) -> None:
    data = text.encode()
    with TemporaryDirectory() as directory:
        output = Output(lambda: Path(directory) / "file", head=room, tail=room)
        read, seen = 0, ""
        for piece in pieces(data, cuts):
            output.write(piece)
            if len(piece) <= room:
                part = output.since(read, is_final=False)
                if not part.left_out:
                    read, seen = part.end, seen + part.text
                    assert data.decode().startswith(seen)
        rest = output.since(read)
        if not rest.left_out:
            assert seen + rest.text == text
        output.close()


@settings(deadline=None)
@given(st.binary(max_size=300), st.lists(st.integers(0, 300)))
def test_bytes_that_are_no_text_are_taken_too(data: bytes, cuts: list[int]) -> None:
    with TemporaryDirectory() as directory:
        output = written(directory, data, cuts, head=16, tail=16)
        assert output.whole().end == len(data)
        output.close()


def test_the_file_has_a_limit_and_says_so(tmp_path: Path) -> None:
    output = Output(lambda: tmp_path / "file", head=10, tail=10, most_on_disk=100)
    for _ in range(100):
        output.write(b"0123456789")
    assert (tmp_path / "file").stat().st_size == 100
    assert output.problem == "the file holds only the first 100 bytes"
    assert "the first 100 bytes are in" in output.whole().text
    assert output.since(990).text == "0123456789"
    assert output.since(500).text.endswith("\n0123456789")


def test_a_file_that_cannot_be_made_costs_only_the_middle(tmp_path: Path) -> None:
    output = Output(lambda: tmp_path / "nowhere" / "file", head=10, tail=10)
    output.write(b"a" * 10 + b"b" * 100 + b"c" * 10)
    assert output.problem == "no file could be made: No such file or directory"
    assert output.whole().text == "aaaaaaaaaa\n[… 100 bytes left out …]\ncccccccccc"


def test_an_existing_file_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    output = Output(lambda: tmp_path / "file", head=1, tail=1)
    output.write(b"abc")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"
