"""The programs in README and docs run, and print what stands below them.

The Python blocks of a page are one program. A block of text that follows one is what it prints.
"""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!\w+:)([^)#]+)")


def blocks(page):
    """(program, what it prints or nothing) in the order of the page."""
    return BLOCK.findall(page.read_text())


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: str(page.relative_to(ROOT)))
def test_programs_run_and_print_what_the_page_says(page, tmp_path):
    end = "-- end of a block --"
    parts = blocks(page)
    program = tmp_path / "program.py"
    program.write_text("".join(f"{code}print({end!r})\n" for code, _ in parts))
    done = subprocess.run([sys.executable, "-m", "everflow", "run", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for (_, text), printed in zip(parts, done.stdout.split(end + "\n")):
        assert not text or printed == text


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()] == []


def test_the_index_names_every_page():
    index = ROOT / "docs" / "README.md"
    named = {(index.parent / link).resolve() for link in LINK.findall(index.read_text())}
    assert [page.name for page in PAGES if page.parent.is_relative_to(index.parent) and page not in named and page != index] == []
