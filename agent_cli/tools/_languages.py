"""Which language a file is written in, for whoever colours it."""

from pathlib import PurePath

_BY_SUFFIX = {
    "bash": "bash", "c": "c", "cc": "cpp", "cpp": "cpp", "cs": "csharp", "css": "css",
    "go": "go", "h": "c", "hpp": "cpp", "htm": "html", "html": "html", "ini": "ini",
    "java": "java", "js": "javascript", "json": "json", "jsx": "jsx", "kt": "kotlin",
    "lua": "lua", "md": "markdown", "mjs": "javascript", "php": "php", "pl": "perl",
    "py": "python", "pyi": "python", "r": "r", "rb": "ruby", "rs": "rust", "scss": "scss",
    "sh": "bash", "sql": "sql", "svg": "xml", "swift": "swift", "tex": "latex",
    "toml": "toml", "ts": "typescript", "tsx": "tsx", "vue": "vue", "xml": "xml",
    "yaml": "yaml", "yml": "yaml", "zig": "zig", "zsh": "bash",
}  # fmt: skip
_BY_NAME = {"dockerfile": "docker", "makefile": "make"}


def language_of(path: str) -> str:
    """The language's name, or nothing where it is not known."""
    file = PurePath(path.lower())
    return _BY_NAME.get(file.name) or _BY_SUFFIX.get(file.suffix.removeprefix("."), "")
