"""`everflow ops` tells what there is."""

from everflow.cli import main as cli
from everflow.graph import opdefs


def test_an_op_is_listed_with_what_it_has(capsys):
    assert cli.main(["ops", "SoftplusGrad", "TanhGrad"]) == 0
    header, *rows, total = capsys.readouterr().out.splitlines()
    assert header.split() == ["op", "kernel", "shape", "gradient"]
    assert [row.split() for row in rows] == [["SoftplusGrad", "yes", "yes", "yes"], ["TanhGrad", "yes", "yes", "yes"]]
    assert total == "2 ops: 2 with kernel, 2 with shape, 2 with gradient"


def test_what_is_missing_can_be_asked_for(capsys):
    cli.main(["ops", "--missing", "kernel", "Conv2D", "HostSend"])
    out = capsys.readouterr().out
    assert "_HostSend " in out and "Conv2DBackpropInput " not in out


def test_the_summary_counts_all_definitions(capsys):
    cli.main(["ops", "--summary"])
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 1 and out[0].startswith(f"{len(opdefs.names())} ops: ") and int(out[0].split()[2]) >= 650
