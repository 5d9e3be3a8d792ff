"""`everflow ops` tells what there is."""

from everflow.cli import main as cli
from everflow.cli.ops import coverage
from everflow.graph import opdefs
from everflow.ops.core.without_kernels import reasons


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


def test_every_op_has_a_kernel_or_one_reason_why_not():
    unsaid = {name for name in opdefs.names() if len(reasons(name)) != (0 if coverage(name).kernel else 1)}
    assert not unsaid


def test_the_reason_is_told_and_so_is_what_the_runtime_does_itself(capsys):
    cli.main(["ops", "NcclReduce", "NextIteration"])
    rows = capsys.readouterr().out.splitlines()
    assert any(row.split()[0] == "NcclReduce" and row.endswith("needs NCCL, for several GPUs") for row in rows)
    assert any(row.split()[:2] == ["NextIteration", "runtime"] for row in rows)
