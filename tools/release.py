"""Gives the next version its number, and says what the changelog tells of one.

python tools/release.py bump 0.2.0     # everflow/about.py, and "Unreleased" of CHANGELOG.md becomes this version
python tools/release.py notes 0.2.0    # that part of CHANGELOG.md
"""

import argparse
import datetime
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = re.compile(r'^version = "(.+)"$', re.MULTILINE)


def bumped(about: str, changelog: str, version: str, date: str) -> tuple[str, str]:
    """Both files, as they are for a version."""
    (before,) = VERSION.findall(about)
    if numbers(version) <= numbers(before):
        raise ValueError(f"version {version} is not above {before}")
    if not notes(changelog, "Unreleased"):
        raise ValueError("CHANGELOG.md has nothing under Unreleased")
    heading = "## Unreleased\n"
    return VERSION.sub(f'version = "{version}"', about), changelog.replace(heading, f"{heading}\n## {version} ({date})\n", 1)


def numbers(version: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise ValueError(f"{version} is no version: three numbers with dots between them")
    return tuple(map(int, version.split(".")))


def notes(changelog: str, title: str) -> str:
    """What stands under the heading of a version."""
    found = re.search(rf"^## {re.escape(title)}(?: \([^)\n]*\))?\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError(f"CHANGELOG.md has no heading {title}")
    return found[1].strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["bump", "notes"])
    parser.add_argument("version")
    given = parser.parse_args()
    about, changelog = ROOT / "everflow" / "about.py", ROOT / "CHANGELOG.md"
    try:
        if given.verb == "notes":
            print(notes(changelog.read_text(), given.version))
            return
        texts = bumped(about.read_text(), changelog.read_text(), given.version, datetime.date.today().isoformat())
    except ValueError as error:
        sys.exit(f"release: {error}")
    for file, text in zip((about, changelog), texts):
        file.write_text(text)


if __name__ == "__main__":
    main()
