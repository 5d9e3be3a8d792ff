"""A release has a number above the last and something to tell."""

import pathlib
import runpy

import pytest

release = runpy.run_path(str(pathlib.Path(__file__).parents[2] / "tools" / "release.py"))
bumped, notes = release["bumped"], release["notes"]
ABOUT = '"""What this is."""\nversion = "0.1.9"\n'
CHANGELOG = "# Changelog\n\n## Unreleased\n\n- New.\n\n## 0.1.9 (2020-01-02)\n\n- Old.\n"


def test_what_was_unreleased_gets_the_version():
    about, changelog = bumped(ABOUT, CHANGELOG, "0.1.10", "2020-02-03")
    assert about == '"""What this is."""\nversion = "0.1.10"\n'
    assert notes(changelog, "0.1.10") == "- New." and notes(changelog, "0.1.9") == "- Old." and notes(changelog, "Unreleased") == ""
    assert "## 0.1.10 (2020-02-03)" in changelog


@pytest.mark.parametrize(("version", "message"), [("0.1.9", "is not above 0.1.9"), ("0.1.8", "is not above"), ("1.0", "is no version")])
def test_versions_grow(version, message):
    with pytest.raises(ValueError, match=message):
        bumped(ABOUT, CHANGELOG, version, "")


def test_there_is_something_to_tell():
    with pytest.raises(ValueError, match="nothing under Unreleased"):
        bumped(ABOUT, CHANGELOG.replace("- New.\n", ""), "0.2.0", "")
    with pytest.raises(ValueError, match="no heading 7.0.0"):
        notes(CHANGELOG, "7.0.0")
