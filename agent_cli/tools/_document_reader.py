"""Reads a document in a process of its own: `… KIND PAGES BYTES SECONDS`, bytes in, JSON out.

A small file can unpack to more than memory holds, or keep a library busy for ever. Here that ends
this process alone.
"""

# The libraries are an extra and slow to load: imported only when a document is read.
# ruff: noqa: PLC0415

import io
import json
import re
import resource
import sys
import zipfile
from collections.abc import Iterator
from typing import Any

from agent_cli.core.errors import ToolFailure, refuse

MAX_PAGES = 20
"""Pages of a PDF in one answer."""
_PAGES_WITHOUT_RANGE = 10
_MAX_UNPACKED_BYTES = 300_000_000
_MAX_TEXT_CHARS = 5_000_000
_MAX_OUTPUT_CHARS = 2_000
TOO_MUCH = "The document was not read: it takes more than {what} to open it."


def main() -> None:
    """Read standard input; print the text, or why there is none, as JSON."""
    kind, pages, most_bytes, most_seconds = sys.argv[1:]
    data = sys.stdin.buffer.read()
    _limit(resource.RLIMIT_AS, int(most_bytes))
    _limit(resource.RLIMIT_CPU, int(most_seconds))
    try:
        answer = {"text": read(kind, data, pages)}
    except ToolFailure as failure:
        answer = {"failure": failure.message, "type": failure.type.value}
    except MemoryError:
        answer = {"failure": TOO_MUCH.format(what=f"{int(most_bytes) // 1_000_000:,} MB of memory")}
    sys.stdout.buffer.write(json.dumps(answer).encode())


def _limit(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def read(kind: str, data: bytes, pages: str) -> str:
    """The document's text; raises a failure that says what to do."""
    reader = {"PDF": _pdf, "Word": _word, "Excel": _excel, "notebook": _notebook}[kind]
    gathered: list[str] = []
    size = 0
    try:
        for piece in reader(data, pages):
            gathered.append(piece)
            size += len(piece)
            if size > _MAX_TEXT_CHARS:
                gathered.append("[The rest of the document is left out: it is too long.]")
                break
    except (ToolFailure, MemoryError):
        raise
    except ImportError as error:
        raise ToolFailure(
            f"Reading {kind} documents needs a library that is not installed ({error.name}). The "
            "user can add it with: pip install 'agent-cli[docs]'"
        ) from error
    except Exception as error:  # whatever these libraries raise, the document is to blame
        raise ToolFailure(
            f"Cannot parse the {kind} document ({type(error).__name__}); it may "
            "be damaged or protected."
        ) from error
    return "\n".join(gathered)


def wanted_pages(pages: str, total: int) -> list[int]:
    """The page numbers in "3", "1-5" or "1,4-6"; all of them if nothing is asked and few exist."""
    if not pages.strip():
        if total > _PAGES_WITHOUT_RANGE:
            raise refuse(
                f"The document has {total:,} pages. Choose some with pages, e.g. "
                f'"1-{_PAGES_WITHOUT_RANGE}" (at most {MAX_PAGES} per call).'
            )
        return list(range(1, total + 1))
    wanted: list[int] = []
    for part in pages.split(","):
        found = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})?\s*)?", part)
        if found is None:
            raise refuse(f'pages {pages[:40]!r} is not valid; use "3", "1-5" or "1,4-6".')
        first = int(found[1])
        last = int(found[2]) if found[2] else (total if "-" in part else first)
        if first < 1 or last < first or first > total:
            raise refuse(
                f"There is no page range {part.strip()}: the document has {total:,} pages."
            )
        wanted += range(first, min(last, total, first + MAX_PAGES) + 1)
    if len(wanted) > MAX_PAGES:
        raise refuse(
            f"At most {MAX_PAGES} pages can be read per call (the document has {total:,})."
        )
    return wanted


def _pdf(data: bytes, pages: str) -> Iterator[str]:
    import pypdf

    reader = pypdf.PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise ToolFailure("The PDF is password-protected.")
    total = len(reader.pages)
    for number in wanted_pages(pages, total):
        text = reader.pages[number - 1].extract_text().strip()
        yield f"--- page {number} of {total} ---"
        yield text or "[This page holds no text; it may be a picture of one.]"


def _word(data: bytes, _pages: str) -> Iterator[str]:
    import docx
    from docx.table import Table

    _refuse_bomb(data)
    for item in docx.Document(io.BytesIO(data)).iter_inner_content():
        if isinstance(item, Table):
            for row in item.rows:
                yield " | ".join(cell.text.strip() for cell in row.cells)
            continue
        level = re.fullmatch(r"Heading (\d)", (item.style and item.style.name) or "")
        yield f"{'#' * int(level[1])} {item.text}" if level else item.text


def _excel(data: bytes, _pages: str) -> Iterator[str]:
    import openpyxl

    _refuse_bomb(data)
    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    try:
        for sheet in book.worksheets:
            yield f"--- sheet {sheet.title} ---"
            for row in sheet.iter_rows(values_only=True):
                cells = ["" if value is None else str(value) for value in row]
                if any(cells):
                    yield "\t".join(cells).rstrip("\t")
    finally:
        book.close()


def _notebook(data: bytes, _pages: str) -> Iterator[str]:
    cells = json.loads(data)["cells"]
    for number, cell in enumerate(cells, 1):
        yield f"--- cell {number} ({cell.get('cell_type', 'unknown')}) ---"
        yield _join(cell.get("source", ""))
        for output in cell.get("outputs", ()):
            yield from _output(output)


def _output(output: dict[str, Any]) -> Iterator[str]:
    content = output.get("data", {})
    text = _join(output.get("text") or content.get("text/plain") or "")
    if output.get("output_type") == "error":
        text = f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
    pictures = [kind for kind in content if kind.startswith("image/")]
    if text:
        cut = f"{text[:_MAX_OUTPUT_CHARS]}…" if len(text) > _MAX_OUTPUT_CHARS else text
        yield f"[output] {cut}"
    if pictures:
        yield f"[output: {', '.join(pictures)}]"


def _join(text: Any) -> str:
    return "".join(map(str, text)) if isinstance(text, list) else str(text)


def _refuse_bomb(data: bytes) -> None:
    """A small archive can unpack to more than memory holds."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > _MAX_UNPACKED_BYTES:
            raise ToolFailure(
                "The document was not opened: it unpacks to far more than its size suggests."
            )


if __name__ == "__main__":
    main()
