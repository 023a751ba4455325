"""Kinds of files, told from their first bytes."""

import pytest

from agent_cli.lib.filekinds import certainly_binary, image, kind_by_content
from tests.kit.pictures import GIF, JPEG, PNG, WEBP


@pytest.mark.parametrize("head", [PNG, JPEG, GIF, *WEBP.values()])
def test_pictures_are_measured(head: bytes) -> None:
    found = image(head)
    assert found is not None
    assert (found.width, found.height) == (640, 480)
    assert found.name.endswith("image, 640×480")


@pytest.mark.parametrize("head", [PNG[:18], JPEG[:9], GIF[:8], WEBP["extended"][:25]])
def test_a_damaged_picture_is_still_named(head: bytes) -> None:
    found = image(head)
    assert found is not None
    assert found.width is None


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"\x7fELF\x02\x01", "ELF"),
        (b"PK\x03\x04\x14\0", "zip"),
        (b"\x1f\x8b\x08\0", "gzip"),
        (b"SQLite format 3\0\x10\0", "SQLite"),
        (b"\0" * 257 + b"ustar\x0000", "tar"),
        (b"%PDF-1.7\n%\xe2\xe3\n", "PDF"),
        (b"\0\0\0\x18ftypmp42", "MP4"),
    ],
)
def test_kinds_are_named(head: bytes, kind: str) -> None:
    assert kind in str(certainly_binary(head))


@pytest.mark.parametrize("head", [b"MZ is a name\n", b"BMW\n", b"ID3 tags\n", b"OTTO said so\n"])
def test_text_that_begins_like_a_binary_is_not_taken_for_one(head: bytes) -> None:
    assert kind_by_content(head)
    assert certainly_binary(head) is None
