"""Finds citations of files, modules, numbered headings, titles and ADRs, and says which lead nowhere.

    docs/design/sql.md 2.1, 3        a file and numbers of its headings
    PROOFS.md, "Smoothed median"     a file and a heading, or the bold words that open a paragraph
    ADR 0007                         a decision
    planner/public_keys.py           a file; in Markdown also a bare name in backquotes
    [text](path#heading)             a link of Markdown
    planner.public_keys              a module, in comments and documentation strings

A file is named by its path from the root, from the citing file, or by the end of its path.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath

# A schema of that name is in the ledger's database: ledger.receipt is a table.
_SCHEMAS = frozenset({"ledger"})
_IMPORT = re.compile(r"^(?:from [\w.]+ import .*|import [\w.]+)$", re.MULTILINE)
_WRITTEN = re.compile(
    r'"""(?s:.*?)"""|#.*'
)  # more than comments and documentation strings, and all of them
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, kw_only=True)
class Modules:
    """files: paths from the root. A name begins with a package at the top, or with one below it."""

    root: Path
    files: frozenset[str]

    @cached_property
    def _folders(self) -> dict[str, list[str]]:
        """Of the packages with which a name can begin; tests have folders named as what they test."""
        found: dict[str, list[str]] = {}
        for file in sorted(self.files):
            folder = PurePosixPath(file).parent
            if file.endswith("/__init__.py") and len(folder.parts) <= 2:
                found.setdefault(folder.name, []).append(str(folder))
        return found

    @cached_property
    def _all_folders(self) -> frozenset[str]:
        return frozenset(str(above) for file in self.files for above in PurePosixPath(file).parents)

    @cached_property
    def _names(self) -> re.Pattern[str]:
        first = "|".join(sorted(self._folders.keys() - _SCHEMAS)) or "(?!)"
        return re.compile(
            rf"(?<![\w./\"'-])((?:{first})(?:\.[A-Za-z_]\w*)+)(?!\w|\.\w|\()", re.ASCII
        )

    def missing(self, text: str) -> Iterator[tuple[int, str]]:
        """
        Given    the text of a module
        Gives    lines and names that lead to no module, or to no word in it
        """
        named = {found[1] for found in self._names.finditer(_IMPORT.sub("", text))}
        gone = [name for name in named if not name.endswith(".sql") and not self._is_there(name)]
        written = "\n".join(_WRITTEN.findall(text)) if gone else ""
        if not any(name in written for name in gone):
            return  # and need not be taken apart, which takes longer than all else
        for line, comment in _comments(text):
            for found in self._names.finditer(comment):
                if not found[1].endswith(".sql") and not self._is_there(found[1]):
                    yield line + comment.count("\n", 0, found.start()), found[1]

    def _is_there(self, name: str) -> bool:
        first, *parts = name.split(".")
        return any(self._is_in(folder, parts) for folder in self._folders[first])

    def _is_in(self, folder: str, parts: list[str]) -> bool:
        for number, part in enumerate(parts):
            folder = f"{folder}/{part}"
            if f"{folder}.py" in self.files:
                module = (self.root / f"{folder}.py").read_text(encoding="utf-8")
                words = parts[number + 1 :]
                return all(re.search(rf"\b{word}\b", module) for word in words)
            if folder not in self._all_folders:
                return False
        return True


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Comments and documentation strings with their first lines; without the examples in them."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # no module
        return
    documents = {
        (node.body[0].lineno, node.body[0].col_offset)
        for node in ast.walk(tree)
        if isinstance(node, _DOCUMENTED) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_document = token.type == tokenize.STRING and token.start in documents
        if is_document or token.type == tokenize.COMMENT:
            yield token.start[0], re.sub(r">>>.*", "", token.string)


_SKIPPED = {
    ".git", ".venv", ".clients", ".state", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis",
    ".coverage", ".coverage.json", ".import_linter_cache", "mutants", "__pycache__", "build", "dist",
}  # fmt: skip
_SCANNED = {".py", ".md", ".sql", ".toml", ".yaml", ""}
_LINE_BREAK = re.compile(r"\n[ \t]*(?:#+|--)?[ \t]*")
_PAGE = re.compile(
    r"(?P<file>[A-Za-z0-9_][\w./-]*\.md)\b"
    r"(?P<rest>(?:,? +(?:and +)?\d+(?:\.\d+)*(?![\w.]*\w)|, +(?:and +)?\"[^\"]+\")*)"
)
_NUMBER = re.compile(r"(?<![\"\w.])\d+(?:\.\d+)*(?=[,\s]|$)")
_TITLE = re.compile(r"\"([^\"]+)\"")
_DECISION = re.compile(r"\bADR (\d+)")
_SOURCE = re.compile(r"(?<![\w./-])((?:[\w-]+/)+[\w-]+\.(?:py|sql))\b")
_QUOTED_FILE = re.compile(r"`((?:[\w.-]+/)*[\w-]+\.(?:py|sql|toml|yaml))`")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# Names of documents that were never in the repository, and numbers in them.
_OF_FORMER = "MECHANISMS", "ENGINES", "DESIGN", "REUSE", "NEXT", "GLOSSARY", "trap ", "design/"
_FORMER = re.compile(
    r"\b(?:MECHANISMS|ENGINES|DESIGN|REUSE|NEXT|GLOSSARY)(?: [A-Z]?\.?\d|, trap)|\btrap \d"
    r"|(?<!docs/)\bdesign/[A-Z]"
)
_HEADING = re.compile(r"^#+ +(?:(\d+(?:\.\d+)*)\.? +)?(.*)$", re.MULTILINE)
_ANCHOR = re.compile(r'<a id="([\w-]+)"></a>')
_BOLD = re.compile(r"^(?:[-*] )?\*\*(.+?)\*\*", re.MULTILINE)
_PARENTHESES = re.compile(r" *\([^)]*\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """place: the citing file and line; what: the words that lead nowhere."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    numbers: frozenset[str]
    titles: frozenset[str]
    anchors: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Citations:
    """Of all files below a root, but those named in `beside`."""

    root: Path
    beside: frozenset[str] = frozenset()

    @cached_property
    def files(self) -> frozenset[str]:
        return frozenset(_files(self.root))

    @cached_property
    def count(self) -> int:
        """How many citations of Markdown pages there are."""
        texts = (text for _, text in self._texts if ".md" in text)
        return sum(1 for text in texts for _ in _PAGE.finditer(text))

    def broken(self) -> list[Broken]:
        """All citations that lead nowhere, in the order of files and places."""
        return [
            Broken(place=f"{name}:{text.count(_ENDED, 0, at) + 1}", what=what)
            for name, text in self._texts
            for at, what in self._broken_in(name, text)
        ] + [
            Broken(place=f"{name}:{line}", what=f"there is no module {cited}")
            for name in sorted(self.files - self.beside)
            if name.endswith(".py")
            for line, cited in self._modules.missing((self.root / name).read_text("utf-8"))
        ]

    @cached_property
    def _modules(self) -> Modules:
        return Modules(root=self.root, files=self.files)

    @cached_property
    def _texts(self) -> list[tuple[str, str]]:
        """Each text with its lines joined, so that a citation may go on in the next one."""
        return [
            (name, _LINE_BREAK.sub(lambda found: _ENDED + " " * (len(found[0]) - 1), text))
            for name in sorted(self.files - self.beside)
            if Path(name).suffix in _SCANNED
            for text in [(self.root / name).read_text(encoding="utf-8")]
        ]

    @cached_property
    def _decisions(self) -> frozenset[str]:
        """The numbers of all decisions, which are rows of the pages in docs/adr."""
        pages = (self.root / name for name in self.files if name.startswith("docs/adr/"))
        return frozenset(
            anchor for page in pages for anchor in _page_of(page.read_text("utf-8")).anchors
        )

    def _broken_in(self, name: str, text: str) -> Iterator[tuple[int, str]]:
        """What a pattern needs in any case is looked for first: that takes a tenth of the time."""
        if any(word in text for word in _OF_FORMER):
            for found in _FORMER.finditer(text):
                yield found.start(), f"{found[0]!r} is not in the repository"
        if ".md" in text:
            for found in _PAGE.finditer(text.replace(_ENDED, " ")):
                for what in self._page(name, found["file"], found["rest"]):
                    yield found.start(), what
        for found in _DECISION.finditer(text) if "ADR " in text else ():
            if found[1] not in self._decisions:
                yield found.start(), f"there is no {found[0]}"
        is_page = name.endswith(".md")
        patterns = (_SOURCE, _QUOTED_FILE) if is_page else (_SOURCE,)
        for pattern in patterns if ".py" in text or ".sql" in text or is_page else ():
            for found in pattern.finditer(text):
                if not self._resolved(name, found[1]):
                    yield found.start(), f"there is no file {found[1]}"
        if is_page:
            for found in _LINK.finditer(text):
                if not self._leads(name, found[1]):
                    yield found.start(), f"the link {found[1]} leads nowhere"

    def _page(self, name: str, cited: str, rest: str) -> Iterator[str]:
        found = self._resolved(name, cited)
        if len(found) != 1:
            yield f"{cited} is {'no file' if not found else 'one of ' + ', '.join(found)}"
            return
        page = _page_of((self.root / found[0]).read_text(encoding="utf-8"))
        for title in _TITLE.findall(rest):
            if _plain(title) not in page.titles:
                yield f"{found[0]} has no heading {title!r}"
        for number in _NUMBER.findall(_TITLE.sub("", rest)):
            if number not in page.numbers:
                yield f"{found[0]} has no heading {number}"

    def _resolved(self, name: str, cited: str) -> list[str]:
        near = _normal(f"{Path(name).parent.as_posix()}/{cited}")
        for exact in (_normal(cited), near):
            if exact in self.files:
                return [exact]
        return sorted(file for file in self.files if file.endswith(f"/{cited}"))

    def _leads(self, name: str, link: str) -> bool:
        if re.match(r"[a-z]+:", link):
            return True
        target, _, anchor = link.partition("#")
        path = _normal(f"{Path(name).parent.as_posix()}/{target}") if target else name
        if path not in self.files:
            return not anchor and (self.root / path).is_dir()
        return not anchor or anchor in _page_of((self.root / path).read_text("utf-8")).anchors


_ENDED = "\v"  # stands for a line break in joined text


def _files(root: Path) -> Iterator[str]:
    for path in sorted(root.iterdir()):
        if path.name in _SKIPPED or path.name.endswith(".egg-info"):
            continue
        if path.is_dir():
            yield from (f"{path.name}/{below}" for below in _files(path))
        elif path.is_file():
            yield path.name


def _normal(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


@lru_cache
def _page_of(text: str) -> _Page:
    headings = _HEADING.findall(text)
    titles = {title for _, heading in headings for title in _titles(heading)}
    titles |= {_plain(bold) for bold in _BOLD.findall(text)}
    anchors = {
        re.sub(r"[^\w\- ]", "", f"{number} {heading}".strip().lower()).replace(" ", "-")
        for number, heading in headings
    } | {*_ANCHOR.findall(text)}
    return _Page(
        numbers=frozenset(number for number, _ in headings if number),
        titles=frozenset(titles),
        anchors=frozenset(anchors),
    )


def _titles(heading: str) -> Iterator[str]:
    """The heading, and where it names two things, each of them."""
    whole = _PARENTHESES.sub("", heading)
    yield _plain(whole)
    yield from map(_plain, re.split(r", | and ", whole))


def _plain(title: str) -> str:
    without_marks = re.sub(r" *\[[A-Z, ]+\]", "", title)
    return " ".join(without_marks.strip(" .").lower().split())
