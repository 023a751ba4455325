"""Pages become text: readable, without what nobody sees, in bounded time and memory."""

import gzip
import itertools
import subprocess
import sys
import tracemalloc
import zlib

import pytest

from agent_cli.core.errors import ToolFailure
from agent_cli.extensions.web.address import Address
from agent_cli.extensions.web.bodies import is_html, quote, text_of
from agent_cli.extensions.web.cache import MAX_BYTES, PageCache
from agent_cli.extensions.web.http_client import HttpResponse
from agent_cli.extensions.web.readable import readable
from agent_cli.extensions.web.unpacking import Unpacker

BASE = "https://example.org/docs/"


def page(body: bytes, kind: str = "text/html") -> HttpResponse:
    return HttpResponse(Address.parse(BASE), 200, "OK", (("Content-Type", kind),), body)


def test_a_page_keeps_its_shape() -> None:
    html = """<!doctype html><html><head><title>Hello &amp; bye</title><style>p{}</style></head>
    <body><nav><a href=/>home</a></nav><h1>Big   <em>news</em></h1>
    <p>Some <a href="../x?y=1">link</a>, <code>code()</code>.<p>Second<br>line
    <ul><li>one<li><p>two</p><ol><li>a</li><li>b</li></ol></ul><pre>def f():
    return  1
</pre><table><tr><th>A<th>B<tr><td>1<td>2</table><img alt="A cat"> <a href="#top">top</a>
    <!-- no --><script>if (a < b) { document.write("<p>no</p>") }</script></body>"""
    assert readable(html, BASE) == (
        "Hello & bye\n\n# Big news\n\n"
        "Some [link](https://example.org/x?y=1), `code()`.\n\nSecond\nline\n\n"
        "- one\n- two\n\n  1. a\n  2. b\n\n```\ndef f():\n    return  1\n```\n\n"
        "A | B\n1 | 2\n\n[picture: A cat] top"
    )


def test_what_a_person_would_not_see_is_left_out() -> None:
    html = (
        "<p>seen<div hidden>no <div>instructions</div> no</div>"
        '<span style="color: red; display : none">no</span><template>no</template>'
        "<noscript>no</noscript><svg><text>no</text></svg><svg/> and seen"
    )
    assert readable(html, BASE).split() == ["seen", "and", "seen"]


@pytest.mark.parametrize(
    "html",
    [
        "<" * 300_000,
        "</" * 150_000,
        "<!--" * 75_000,
        "<a " * 30_000,
        "<a b='" * 15_000,
        "<a " + "x=" * 50_000,
        "<a " + " " * 300_000,
        "<a href=x>" * 10_000 + "t" + "</a>" * 10_000,
        "<ul><li>" * 10_000,
        "<script>" * 30_000,
        "&#" + "1" * 300_000 + ";",
        "&" * 300_000,
        "<pre>" + " " * 300_000,
    ],
    ids=lambda html: html[:12],
)
def test_no_page_costs_more_than_its_length(html: str) -> None:
    # With work that grows with the square, each of these would take minutes, not a moment.
    assert len(readable(html, BASE)) <= 4 * len(html)


def test_reading_stops_when_nobody_waits_any_more() -> None:
    looks = itertools.count()
    text = readable("<p>word" * 100_000, BASE, lambda: next(looks) >= 3)
    assert 0 < text.count("word") < 3_000


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (page("naïve".encode("latin-1"), "text/plain; charset=ISO-8859-1"), "naïve"),
        (page("naïve".encode(), "text/plain"), "naïve"),
        (page(b"\xef\xbb\xbfhi", "text/plain; charset=utf-8"), "hi"),
        (page('<meta charset="gb2312">你好'.encode("gb18030")), '<meta charset="gb2312">你好'),
        (page("ok".encode("utf-16"), "text/plain"), "ok"),
        (page(b"ok", "text/plain; charset=rot13"), "ok"),
        (page(b"ok", "text/plain; charset=nonsense"), "ok"),
        (page(b"\x89PNG\r\n\x1a\n", "image/png"), None),
        (page(b"a\0b\0\xff\xfe\0", ""), None),
        (page(b"%PDF-1.7", "application/pdf"), None),
    ],
)
def test_text_is_read_in_its_encoding_and_the_rest_is_no_text(
    answer: HttpResponse, text: str | None
) -> None:
    assert text_of(answer) == text


def test_a_page_is_known_without_its_type() -> None:
    assert is_html(page(b" <!DOCTYPE html><p>", ""))
    assert not is_html(page(b"{}", ""))
    assert not is_html(page(b"<html>", "text/plain"))


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(b"text" * 100)),
        ("gzip", gzip.compress(b"text" * 100) + b"padding"),
        ("deflate", zlib.compress(b"text" * 100)),
        ("deflate", zlib.compress(b"text" * 100)[2:-4]),
        ("identity", b"text" * 100),
    ],
    ids=["gzip", "gzip with padding", "deflate", "deflate without header", "identity"],
)
@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_packed_answers_are_unpacked_in_any_pieces(encoding: str, packed: bytes, step: int) -> None:
    unpacker = Unpacker(encoding, 1_000)
    for start in range(0, len(packed), step):
        unpacker.add(packed[start : start + step])
    assert unpacker.data == b"text" * 100
    assert not unpacker.is_full


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_bomb_does_not_go_off(encoding: str) -> None:
    pack = gzip.compress if encoding == "gzip" else zlib.compress
    bomb = pack(bytes(30_000_000))
    tracemalloc.start()
    unpacker = Unpacker(encoding, 100_000)
    unpacker.add(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert unpacker.is_full
    assert len(unpacker.data) == 100_000
    assert peak < 2_000_000


@pytest.mark.parametrize(("encoding", "data"), [("gzip", b"no gzip"), ("br", b""), ("zstd", b"")])
def test_what_cannot_be_unpacked_is_told(encoding: str, data: bytes) -> None:
    with pytest.raises(ToolFailure, match="compress"):
        Unpacker(encoding, 100).add(data)


def test_pages_are_kept_for_a_while_and_not_beyond_measure() -> None:
    now = [0.0]
    cache = PageCache(lambda: now[0])
    cache.keep("a", page(b"x"))
    now[0] = 899.0
    assert cache.get("a", 900.0) is not None
    now[0] = 900.0
    assert cache.get("a", 900.0) is None
    for name in "bcd":
        cache.keep(name, page(bytes(MAX_BYTES // 2)))
    assert [name for name in "abcd" if cache.get(name, 900.0)] == ["c", "d"]


def test_a_page_cannot_end_its_own_quotation() -> None:
    first, second = quote("text", "somewhere"), quote("text", "somewhere")
    line = first.split("\n")[1]
    assert first.split("\n")[-1] == line
    assert line not in second


def test_loading_the_plugins_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from agent_cli.extensions.loading import BUILT_IN_PLUGINS, find_built_in\n"
        "names = [tool.name for each in find_built_in(BUILT_IN_PLUGINS) for tool in each.load().tools]\n"
        "heavy = ('httpx', 'httpcore', 'certifi', 'psycopg', 'pymysql', 'html.parser')\n"
        "print(names, [name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['WebFetch', 'HttpRequest', 'SqlQuery'] []"
