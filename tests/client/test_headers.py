"""All headers together, in the oldest and the newest version of C++ that programs are written in."""

import pathlib
import shutil
import subprocess

import pytest

import everflow as tf

COMPILER = shutil.which("g++") or shutil.which("clang++")
INCLUDE = pathlib.Path(tf.__file__).parent / "include"


@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("version", ["c++11", "c++20"])
def test_headers_give_no_warnings(version, tmp_path):
    names = sorted(str(path.relative_to(INCLUDE)) for path in INCLUDE.rglob("*.h"))
    assert len(names) > 90
    (tmp_path / "all.cc").write_text("".join(f'#include "{name}"\n' for name in names) + "int main() { return 0; }\n")
    flags = [f"-std={version}", "-Wall", "-Wextra", "-DEVERFLOW_NO_EIGEN", "-fsyntax-only", f"-I{INCLUDE}"]
    done = subprocess.run([COMPILER, str(tmp_path / "all.cc"), *flags], capture_output=True, text=True)
    assert (done.stderr, done.returncode) == ("", 0)
