"""The commands that look at what the nodes of a run took."""

import pytest

import everflow as tf
from everflow.debug.cli.config import CLIConfig
from everflow.debug.cli.menus import MenuItem
from everflow.debug.cli.profile_analyzer import ProfileAnalyzer, create_profiler_ui
from everflow.debug.cli.rich_text import INIT_SCROLL_POS_KEY
from everflow.proto import config_pb2

PROGRAM = """\
import everflow as tf
a = tf.constant(1.0, name="a")
b = tf.add(a, a, name="b") * tf.constant(2.0, name="c")
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    exec(compile(PROGRAM, str(path), "exec"), {})
    return str(path)


@pytest.fixture
def analyzer(program):
    """Of a run in which `b` ran twice on one device and `a` on another; times are in microseconds."""
    metadata = config_pb2.RunMetadata()
    for device, name, start, op_time, time in (
        ("cpu:0", "b", 200, 30, 50),
        ("cpu:0", "b", 100, 10, 20),
        ("cpu:0", "c", 150, 1, 2),
        ("gpu:0", "a", 120, 4, 4000),
    ):
        found = [stats for stats in metadata.step_stats.dev_stats if stats.device == device]
        stats = found[0] if found else metadata.step_stats.dev_stats.add(device=device)
        stats.node_stats.add(
            node_name=name, all_start_micros=start, op_start_rel_micros=1, op_end_rel_micros=1 + op_time, all_end_rel_micros=time
        )
    return ProfileAnalyzer(tf.get_default_graph(), metadata)


def rows(analyzer, *args):
    """The lines of nodes, cut into columns."""
    return [line.split() for line in analyzer.list_profile([*args]).lines if line[:2] in ("a ", "b ", "c ")]


def test_nodes_are_listed_by_device_in_the_order_of_time(analyzer):
    lines = analyzer.list_profile([], screen_info={"cols": 30}).lines
    assert lines[:4] == ["", "-" * 30, "Device 1 of 2: cpu:0", ""]
    assert lines[4].split("  ")[0] == "Node" and "Op Time (us)" in lines[4]
    assert rows(analyzer)[:2] == [
        ["b", "Add", "100", "10us", "20us", "program.py:3(<module>)"],
        ["c", "Const", "150", "1us", "2us", "program.py:3(<module>)"],
    ]
    assert [line.split() for line in lines if line.startswith("Device Total")] == [
        ["Device", "Total", "41us", "72us"],
        ["Device", "Total", "4us", "4000us"],
    ]


def test_lists_of_nodes_are_sorted_and_filtered(analyzer):
    assert [row[2] for row in rows(analyzer, "-s", "op_time", "-r")] == ["200", "100", "150", "120"]
    assert [row[0] for row in rows(analyzer, "-d", "gpu.*")] == ["a"]
    assert [row[0] for row in rows(analyzer, "-t", "Const", "-o", "[1us, 2us]")] == ["c"]
    assert [row[2] for row in rows(analyzer, "-e", ">=20", "--min_lineno", "3")] == ["100", "200"]
    assert rows(analyzer, "-f", ".*other.py") == [] and rows(analyzer, "--max_lineno", "2") == []
    assert rows(analyzer, "-n", "a", "--time_unit", "ms")[0][3:5] == ["0.004ms", "4ms"]
    with pytest.raises(ValueError, match="Unsupported key to sort nodes by: odd"):
        analyzer.list_profile(["-s", "odd"])


def test_links_sort_again_and_lead_to_the_source(analyzer, program):
    text = analyzer.list_profile(["-n", "b"])
    commands = [look[0].content for _, _, look in text.font_attr_segs[4]]
    assert commands[2:4] == ["list_profile --node_name_filter b -s start_time -r", "list_profile --node_name_filter b -s op_time"]
    ((_, _, link),) = text.font_attr_segs[5]
    assert link.content == f"ps --node_name_filter b {program} --init_line 3"


def test_a_source_is_shown_with_what_its_lines_took(analyzer, program):
    text = analyzer.print_source([program, "-d", "cpu.*", "--init_line", "2"])
    assert text.lines[0].split() == ["exec_time", "#nodes", "lineno"] and text.lines[1].split() == ["(#execs)", "source"]
    assert text.lines[2].split()[0] == "L1"
    assert text.lines[4].startswith("[||||||||||] 72us        2(3)      L3 ")
    links = [look[1].content for _, _, look in text.font_attr_segs[4] if isinstance(look, list) and isinstance(look[1], MenuItem)]
    assert links[0].endswith("program\\.py$ --min_lineno 3 --max_lineno 4 --device_name_filter cpu.*")
    assert text.annotations[INIT_SCROLL_POS_KEY] == 3
    both = analyzer.print_source([program, "--cost_type", "op_time", "--time_unit", "ms"])
    assert both.lines[3].startswith("[|         ] 0.004ms ") and both.lines[4].startswith("[||||||||||] 0.041ms ")


def test_a_file_that_made_nothing_is_said_to_have_made_nothing(analyzer):
    lines = analyzer.print_source(["other.py", "-n", "b"]).lines
    assert lines[0].startswith("The source file other.py does not contain any profile information for the previous Session run")
    assert lines[2] == "  --node_name_filter: b"


def test_a_traced_run_is_shown(tmp_path, program):
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run("b:0", options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    ui = create_profiler_ui(tf.get_default_graph(), metadata, "readline", config=CLIConfig(str(tmp_path / "config")))
    lines = ui._command_handler_registry.dispatch_command("lp", []).lines
    assert any(line.startswith("b ") and "program.py:3(<module>)" in line for line in lines)
