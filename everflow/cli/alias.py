"""`everflow alias`: puts a `tensorflow` package into the environment, which hands plain `python` on to Everflow."""

from __future__ import annotations

import csv
import importlib.machinery
import importlib.metadata
import os
import pathlib
import shutil
import sys
import sysconfig

from everflow import alias, dist_info

USAGE = """\
usage: everflow alias install
       everflow alias remove

`install` puts a small `tensorflow` package, version 1.15.5, into this environment, so that plain `python train.py`, pytest,
notebooks and other packages find Everflow where they look for TensorFlow. `remove` takes it out again."""

SOURCE = alias.CHILDREN / "tensorflow" / "__init__.py"
PACKAGES = {"tensorflow": ("tensorflow", "tensorflow_core"), "tensorflow-estimator": ("tensorflow_estimator",)}


def main(arguments: list[str]) -> int:
    if arguments in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    if arguments not in (["install"], ["remove"]):
        print("everflow alias: give `install` or `remove` (see everflow alias --help)", file=sys.stderr)
        return 2
    folder = pathlib.Path(sysconfig.get_path("purelib"))
    try:
        print(install(folder) if arguments == ["install"] else remove(folder))
    except (Refused, OSError) as error:
        print(f"everflow alias: {error}", file=sys.stderr)
        return 1
    return 0


class Refused(Exception):
    """Why there is nothing to do, in one sentence."""


def install(folder: pathlib.Path) -> str:
    """Writes the packages and what pip knows of them; returns what was done."""
    if other := real_tensorflow():
        raise Refused(f"a TensorFlow is installed already ({other}); uninstall it first, or use `everflow run`")
    for distribution, packages in PACKAGES.items():
        info = _info(folder, distribution)
        texts = {folder / package / "__init__.py": SOURCE.read_text() for package in packages}
        texts |= {
            info / "METADATA": dist_info.metadata(distribution),
            info / "INSTALLER": "everflow\n",
            info / "WHEEL": "Wheel-Version: 1.0\nGenerator: everflow\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            info / "top_level.txt": "".join(f"{package}\n" for package in packages),
        }
        texts[info / "RECORD"] = "".join(f"{path.relative_to(folder)},,\n" for path in [*texts, info / "RECORD"])
        for path, text in texts.items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    return f"`import tensorflow` finds Everflow in {folder}"


def remove(folder: pathlib.Path) -> str:
    """Takes out what install() wrote; returns what was done."""
    infos = [info for info in (_info(folder, name) for name in PACKAGES) if is_ours(info / "INSTALLER", "everflow\n")]
    if not infos:
        raise Refused(f"there is no alias in {folder}")
    for info in infos:
        with open(info / "RECORD", newline="") as record:
            files = [folder / row[0] for row in csv.reader(record)]
        for file in files:
            file.unlink(missing_ok=True)
        for parent in {file.parent for file in files}:
            shutil.rmtree(parent / "__pycache__", ignore_errors=True)
            if parent.is_dir() and not any(parent.iterdir()):
                parent.rmdir()
    return f"`import tensorflow` no longer finds Everflow in {folder}"


def _info(folder: pathlib.Path, distribution: str) -> pathlib.Path:
    return folder / f"{distribution.replace('-', '_')}-{dist_info.VERSIONS[distribution]}.dist-info"


def is_ours(path: pathlib.Path, text: str) -> bool:
    return path.is_file() and path.read_text() == text


def real_tensorflow() -> str | None:
    """Where this environment has a TensorFlow that is no alias; None where it has none."""
    # The program's folder, which comes first, is no part of the environment.
    path = [entry for entry in sys.path if entry not in ("", os.getcwd())]
    for package in ("tensorflow", "tensorflow_core"):
        spec = importlib.machinery.PathFinder.find_spec(package, path)
        if spec is not None and not (spec.origin and is_ours(pathlib.Path(spec.origin), SOURCE.read_text())):
            return spec.origin or package
    for distribution in importlib.metadata.distributions(name="tensorflow", path=path):
        if distribution.read_text("INSTALLER") != "everflow\n":
            return f"tensorflow {distribution.version}"
    return None
