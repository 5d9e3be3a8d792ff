"""Which lines made which nodes, tensors and costs."""

import os

import pytest

import everflow as tf
from everflow.api import PACKAGE
from everflow.debug import source_lines
from everflow.debug.dump import DebugDumpDir
from everflow.debug.profiling import AggregateProfile, ProfileDatum
from everflow.debug.watches import watch_graph
from everflow.proto import step_stats_pb2

PROGRAM = """
def double(x):
    return tf.add(x, x, name="sum")
a = tf.constant(1.0, name="a")
b = double(a)
"""


@pytest.fixture
def dump(session, tmp_path):
    """A dump of a program in a file of its own, whose lines are known."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    names = {"tf": tf}
    exec(compile(PROGRAM, str(path), "exec"), names)
    options = tf.RunOptions()
    watch_graph(options, session.graph, debug_urls=f"file://{tmp_path}/dump")
    session.run(names["b"], options=options)
    found = DebugDumpDir(f"{tmp_path}/dump")
    found.set_python_graph(session.graph)
    return found, str(path)


def test_lines_are_known_by_the_nodes_they_made(dump):
    found, path = dump
    assert source_lines.annotate_source(found, path) == {3: ["sum"], 4: ["a"], 5: ["sum"]}
    assert source_lines.annotate_source(found, path, file_stack_top=True) == {3: ["sum"], 4: ["a"]}
    assert source_lines.annotate_source(found, path, do_dumped_tensors=True) == {3: ["sum:0"], 4: ["a:0"], 5: ["sum:0"]}
    assert source_lines.annotate_source(found, path, min_line=4, max_line=5) == {4: ["a"]}
    assert source_lines.annotate_source(found, "/other.py") == {}
    found.set_python_graph(None)
    with pytest.raises(ValueError, match="lack of set Python graph"):
        source_lines.annotate_source(found, path)


def test_files_are_listed_with_what_came_of_them(dump):
    found, path = dump
    listed = {entry[0]: entry[1:] for entry in source_lines.list_source_files_against_dump(found)}
    assert listed[path] == (False, 2, 2, 2, 3)
    assert list(listed) == sorted(listed)
    (entry,) = source_lines.list_source_files_against_dump(found, path_regex_whitelist=".*program", node_name_regex_whitelist="a$")
    assert entry == (path, False, 1, 1, 1, 4)
    found.set_python_graph(None)
    with pytest.raises(ValueError, match="lack of set Python graph"):
        source_lines.list_source_files_against_dump(found)


def test_the_library_is_told_from_programs():
    assert source_lines.guess_is_tensorflow_py_library(str(PACKAGE / "debug" / "dump.py"))
    assert not source_lines.guess_is_tensorflow_py_library(__file__)
    assert not source_lines.guess_is_tensorflow_py_library(str(PACKAGE / "some_test.py"))
    with pytest.raises(ValueError, match=r"Input file path \(x.cc\) is not a Python source file"):
        source_lines.guess_is_tensorflow_py_library("x.cc")


def test_lines_come_with_the_width_of_their_numbers(tmp_path):
    (tmp_path / "a.py").write_text("\n".join("abcdefghijkl"))
    lines, width = source_lines.load_source(str(tmp_path / "a.py"))
    assert (lines[0], len(lines), width) == ("a", 12, 5)
    with pytest.raises(FileNotFoundError):
        source_lines.load_source(os.path.join(tmp_path, "nothing.py"))


def datum(name, device, start, end, whole, line=10, op_type="Add"):
    stats = step_stats_pb2.NodeExecStats(
        node_name=name, op_start_rel_micros=start, op_end_rel_micros=end, all_end_rel_micros=whole, all_start_micros=7
    )
    return ProfileDatum(device, stats, "/foo/bar.py", line, "f", op_type)


def test_costs_are_summed_by_node_and_device():
    one = datum("a", "cpu:0", 3, 5, 4)
    assert (one.op_time, one.exec_time, one.start_time, one.file_line_func) == (2, 4, 7, "bar.py:10(f)")
    total = AggregateProfile(one)
    total.add(datum("a", "cpu:0", 3, 6, 9))
    total.add(datum("a", "gpu:0", 0, 1, 1))
    assert (total.total_op_time, total.total_exec_time, total.node_count, total.node_exec_count) == (6, 14, 2, 3)


def test_costs_of_lines():
    data = [datum("a", "cpu:0", 0, 2, 3), datum("b", "cpu:0", 0, 5, 6), datum("c", "cpu:0", 0, 1, 1, line=12, op_type="Mul")]
    found = source_lines.annotate_source_against_profile(data, "/foo/bar.py")
    assert {line: total.total_op_time for line, total in found.items()} == {10: 7, 12: 1}
    assert list(source_lines.annotate_source_against_profile(data, "/foo/bar.py", op_type_filter="Mul")) == [12]
    assert list(source_lines.annotate_source_against_profile(data, "/foo/bar.py", node_name_filter="a$", max_line=12)) == [10]
    assert source_lines.annotate_source_against_profile(data, "/foo/bar.py", min_line=13) == {}
