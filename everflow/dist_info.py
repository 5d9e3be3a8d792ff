"""What `pip` and importlib.metadata know of TensorFlow where it is installed."""

from __future__ import annotations

import importlib.metadata
import pathlib

from everflow.about import version

VERSIONS = {"tensorflow": "1.15.5", "tensorflow-estimator": "1.15.1"}


def metadata(name: str) -> str:
    """The METADATA file of a distribution."""
    return (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {VERSIONS[name]}\n"
        f"Summary: The name under which other packages find Everflow {version}\nRequires-Dist: everflow\n"
    )


class Distribution(importlib.metadata.Distribution):
    """A distribution that is there without files."""

    def __init__(self, name: str) -> None:
        self._name = name

    def read_text(self, filename: str) -> str | None:
        return metadata(self._name) if filename == "METADATA" else None

    def locate_file(self, path: object) -> pathlib.Path:
        return pathlib.Path(__file__).parent / str(path)
