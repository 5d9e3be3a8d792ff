"""`everflow tfdbg`: the offline analyzer."""

import io

import numpy as np
import pytest
from dump_making import graph_def, write_graph, write_tensor

from everflow.cli import tfdbg


@pytest.fixture
def root(tmp_path, monkeypatch):
    # The settings and the history of commands are kept at home.
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    write_graph(tmp_path / "run_1", graph_def("a = Const"))
    write_tensor(tmp_path / "run_1", "a_0_DebugIdentity_10", np.float32([1, np.inf]))
    return tmp_path


def test_a_dump_is_looked_at(root, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("lt -f has_inf_or_nan\npt a:0\n"))
    with np.printoptions():
        assert tfdbg.main(["--dump_root", str(root / "run_1"), "--ui_type", "readline"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"tfdbg offline @ {root / 'run_1'}\n1 dumped tensor(s):\n")
    assert '1 dumped tensor(s) passing filter "has_inf_or_nan":' in printed and "array([ 1., inf], dtype=float32)" in printed


@pytest.mark.parametrize(
    ("folder", "error"),
    [
        ("", "give the folder of a dump (--dump_root)"),
        ("nowhere", "Dump root directory {root}/nowhere does not exist"),
        ("home", "{root}/home holds no dump of a run"),
        (".", "{root}/. holds no dump of a run; the dumps below it are: {root}/run_1"),
    ],
)
def test_what_is_no_dump_is_said(root, capsys, folder, error):
    assert tfdbg.main(["--dump_root", f"{root}/{folder}" if folder else ""]) == 1
    assert capsys.readouterr().err == f"everflow tfdbg: {error.format(root=root)}\n"
