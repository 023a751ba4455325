"""Documents as text."""

import builtins
import io
import json
import resource
import threading
import zipfile
from typing import Any

import docx
import openpyxl
import pypdf
import pytest
from pypdf.generic import DictionaryObject, NameObject, StreamObject

from agent_cli.core.errors import ToolFailure
from agent_cli.tools import _documents
from agent_cli.tools._document_reader import read, wanted_pages
from agent_cli.tools.read import TOOL
from tests.kit.hands import Hands


def pdf(*texts: str, password: str = "") -> bytes:
    """A PDF with one line of text on each page."""
    writer = pypdf.PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for text in texts:
        page = writer.add_blank_page(200, 200)
        content = StreamObject()
        content.set_data(f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode())
        page[NameObject("/Contents")] = writer._add_object(content)
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
    if password:
        writer.encrypt(password)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


async def test_a_short_pdf_is_read_whole(hands: Hands) -> None:
    (hands.workspace / "a.pdf").write_bytes(pdf("first page", "second page", ""))
    text = await hands.told(TOOL, file_path="a.pdf")
    assert "--- page 1 of 3 ---\n     2\tfirst page" in text
    assert "second page" in text
    assert "holds no text" in text
    assert "[PDF document, shown as text]" in text


async def test_a_long_pdf_asks_for_pages(hands: Hands) -> None:
    (hands.workspace / "a.pdf").write_bytes(pdf(*(f"text {n}" for n in range(1, 41))))
    told = await hands.told(TOOL, file_path="a.pdf")
    assert "has 40 pages. Choose some with pages" in told
    assert len(told) < 300
    text = await hands.told(TOOL, file_path="a.pdf", pages="3,39-")
    assert "text 3\n" in text
    assert "text 40" in text
    assert "text 4\n" not in text


async def test_a_protected_pdf_says_so(hands: Hands) -> None:
    (hands.workspace / "a.pdf").write_bytes(pdf("secret", password="x"))
    told = await hands.told(TOOL, file_path="a.pdf")
    assert "password" in told or "protected" in told


async def test_word_keeps_headings_and_tables_in_order(hands: Hands) -> None:
    document = docx.Document()
    document.add_heading("Title", 1)
    document.add_paragraph("Some words.")
    table = document.add_table(1, 2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "left", "right"
    document.add_paragraph("After.")
    document.save(str(hands.workspace / "a.docx"))
    text = await hands.told(TOOL, file_path="a.docx")
    assert [line.partition("\t")[2] for line in text.split("\n")][:4] == [
        "# Title",
        "Some words.",
        "left | right",
        "After.",
    ]


async def test_excel_gives_sheets_and_rows(hands: Hands) -> None:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.title = "Costs"
    book.active.append(["name", "price"])
    book.active.append(["tea", 3.5])
    book.create_sheet("Empty")
    book.save(hands.workspace / "a.xlsx")
    text = await hands.told(TOOL, file_path="a.xlsx")
    assert "--- sheet Costs ---\n     2\tname\tprice\n     3\ttea\t3.5" in text
    assert "--- sheet Empty ---" in text


async def test_a_notebook_is_shown_as_cells(hands: Hands) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "words"]},
        {
            "cell_type": "code",
            "source": "1 + 1",
            "outputs": [
                {"output_type": "execute_result", "data": {"text/plain": ["2"]}},
                {"output_type": "display_data", "data": {"image/png": "AAAA"}},
                {"output_type": "error", "ename": "ValueError", "evalue": "no"},
            ],
        },
    ]
    (hands.workspace / "a.ipynb").write_text(json.dumps({"cells": cells}))
    text = await hands.told(TOOL, file_path="a.ipynb")
    for expected in ("cell 2 (code)", "1 + 1", "[output] 2", "image/png", "ValueError: no"):
        assert expected in text


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.pdf", b"%PDF-1.7\nbroken"),
        ("a.docx", b"PK\x03\x04broken"),
        ("a.xlsx", b"PK\x03\x04broken"),
        ("a.ipynb", b"{broken"),
        ("a.ipynb", b"{}"),
    ],
)
async def test_a_damaged_document_is_called_so(hands: Hands, name: str, data: bytes) -> None:
    (hands.workspace / name).write_bytes(data)
    assert "Cannot parse" in await hands.told(TOOL, file_path=name)


async def test_an_archive_that_unpacks_to_far_too_much_is_not_opened(hands: Hands) -> None:
    with zipfile.ZipFile(hands.workspace / "a.docx", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(31):
            archive.writestr(str(number), b"\0" * 10_000_000)
    assert "unpacks to far more" in await hands.told(TOOL, file_path="a.docx")


def test_a_missing_library_is_answered_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **others: Any) -> Any:
        if name.partition(".")[0] in ("pypdf", "docx", "openpyxl"):
            raise ImportError(f"No module named {name!r}", name=name)
        return real(name, *rest, **others)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ToolFailure, match=r"\(pypdf\)") as told:
        read("PDF", b"%PDF-", "")
    assert "agent-cli[docs]" in told.value.message


@pytest.mark.parametrize(
    ("pages", "expected"),
    [("3", [3]), ("1-3", [1, 2, 3]), ("2, 5-6", [2, 5, 6]), ("98-", [98, 99, 100]),
     ("99-500", [99, 100])],
)  # fmt: skip
def test_page_ranges_are_understood(pages: str, expected: list[int]) -> None:
    assert wanted_pages(pages, 100) == expected


@pytest.mark.parametrize("pages", ["0", "x", "-", "5-3", "101", "1-50", "1-2-3", "9" * 500, "1,,2"])
def test_senseless_page_ranges_are_refused(pages: str) -> None:
    with pytest.raises(ToolFailure):
        wanted_pages(pages, 100)


async def test_text_has_no_pages(hands: Hands) -> None:
    (hands.workspace / "a.txt").write_text("x")
    assert "has no pages" in await hands.told(TOOL, file_path="a.txt", pages="1")


def bomb(kind: str, rows: int) -> bytes:
    """A small archive whose sheet or text unpacks to very many cells or paragraphs."""
    data = io.BytesIO()
    if kind == "Word":
        docx.Document().save(data)
        name, piece = "word/document.xml", b"<w:p><w:r><w:t>x</w:t></w:r></w:p>"
        end = b"<w:sectPr"
    else:
        openpyxl.Workbook().save(data)
        name, piece = (
            "xl/worksheets/sheet1.xml",
            b"".join(b'<row r="%d"><c r="XFD%d"/></row>' % (n, n) for n in range(1, 3_000)),
        )
        end = b"</sheetData>"
    made = io.BytesIO()
    with zipfile.ZipFile(data) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.namelist():
            content = old.read(entry)
            if entry == name:
                content = content.replace(b'ref="A1:A1"', b'ref="A1:XFD3000"')
                assert end in content
                content = content.replace(end, piece * (rows if kind == "Word" else 1) + end, 1)
            new.writestr(entry, content)
    return made.getvalue()


@pytest.mark.parametrize("kind", ["Word", "Excel"])
def test_a_bomb_ends_its_reader_alone(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = bomb(kind, 500_000)
    assert len(data) < 300_000
    monkeypatch.setattr(_documents, "MAX_CPU_S", 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ToolFailure, match="takes more than 1 s of work"):
        _documents.document_text(kind, data, "", threading.Event())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000, "kB of ours"
    monkeypatch.setattr(_documents, "MAX_CPU_S", 20)
    monkeypatch.setattr(_documents, "MAX_MEMORY_BYTES", 150_000_000)
    with pytest.raises(ToolFailure, match=r"takes more than 150 MB|Cannot parse"):
        _documents.document_text("Word", bomb("Word", 500_000), "", threading.Event())
