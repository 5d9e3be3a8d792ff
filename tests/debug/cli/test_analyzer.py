"""The commands that look at a dump. What they print for such a dump is what 1.15.5 prints."""

import numpy as np
import pytest
from dump_making import CPU, graph_def, write_graph, write_tensor

import everflow as tf
from everflow.debug.cli.analyzer import DebugAnalyzer, create_analyzer_ui
from everflow.debug.cli.commands import CommandHandlerRegistry
from everflow.debug.cli.config import CLIConfig
from everflow.debug.cli.menus import MAIN_MENU_KEY, MenuItem
from everflow.debug.cli.rich_text import INIT_SCROLL_POS_KEY
from everflow.debug.dump import DebugDumpDir

GRAPH = """
s/u = VariableV2
s/u/read = Identity(s/u)
s/w = MatMul(s/u/read, s/u/read)
s/pair = Unique(s/w)
s/z = Mul(s/pair:1, s/u/read, ^s/w)
out = _Retval(s/z)
"""


@pytest.fixture
def dump(tmp_path):
    root = tmp_path / "dump"
    write_graph(root, graph_def(GRAPH))
    write_tensor(root, "s/u_0_DebugIdentity_1000", np.float32([[5, 3], [-1, 0]]))
    write_tensor(root, "s/w_0_DebugIdentity_2500", np.array([[22.0, 15.0], [np.inf, -3.0]]))
    write_tensor(root, "s/pair_0_DebugIdentity_3000", np.int32([1]))
    write_tensor(root, "s/pair_1_DebugIdentity_3001", np.int32([2]))
    for number in range(3):
        write_tensor(root, f"s/z_0_DebugIdentity_{4000 + number}", np.int64(number))
    return DebugDumpDir(str(root))


@pytest.fixture
def ask(dump, tmp_path):
    """Has a command answered, as a user types it."""
    analyzer, registry = DebugAnalyzer(dump, CLIConfig(str(tmp_path / "config"))), CommandHandlerRegistry()
    analyzer.add_tensor_filter("infinite", lambda datum, tensor: np.isinf(tensor).any())
    for name in ("list_tensors", "node_info", "list_inputs", "list_outputs", "print_tensor", "print_source", "list_source"):
        registry.register_command_handler(name, getattr(analyzer, name), analyzer.get_help(name))
    registry.register_command_handler("eval", analyzer.evaluate_expression, analyzer.get_help("eval"))

    def answer(command):
        prefix, *arguments = command.split()
        with np.printoptions():
            return registry.dispatch_command(prefix, arguments, screen_info={"cols": 80})

    answer.analyzer = analyzer
    return answer


def links(text):
    """{line: the commands that parts of it are links to}."""
    found = {}
    for line, segments in text.font_attr_segs.items():
        for _, _, look in segments:
            commands = [item.content for item in (look if isinstance(look, list) else [look]) if isinstance(item, MenuItem)]
            found.setdefault(line, []).extend(commands)
    return {line: commands for line, commands in found.items() if commands}


def enabled(text):
    menu = text.annotations[MAIN_MENU_KEY]
    return [caption for caption in menu.captions() if menu.caption_to_item(caption).is_enabled()]


def test_tensors_are_listed_in_the_order_of_time(ask):
    text = ask("list_tensors")
    assert text.lines[:2] == ["7 dumped tensor(s):", ""]
    assert [line.split() for line in text.lines[2:5]] == [
        ["t", "(ms)", "Size", "(B)", "Op", "type", "Tensor", "name"],
        ["[0.000]", text.lines[3].split()[1], "VariableV2", "s/u:0"],
        ["[1.500]", text.lines[4].split()[1], "MatMul", "s/w:0"],
    ]
    assert links(text)[2] == [f"list_tensors -s {key}" for key in ("timestamp -r", "dump_size", "op_type", "tensor_name")]
    assert links(text)[4] == ["pt s/w:0"]
    assert enabled(text) == ["run_info", "help"]


def test_lists_of_tensors_are_sorted_and_filtered(ask):
    def names(command):
        return [line.split()[-1] for line in ask(command).lines if line.startswith("[")]

    assert names("list_tensors -s tensor_name -r")[:2] == ["s/z:0", "s/z:0"]
    assert names("list_tensors -n s/p.* -t Unique") == ["s/pair:0", "s/pair:1"]
    assert names("list_tensors -f infinite") == ["s/w:0"]
    assert names("list_tensors -f infinite -fenn s/w") == []
    text = ask("list_tensors -f infinite -n s.*")
    assert text.lines[:3] == ['1 dumped tensor(s) passing filter "infinite":', 'Node name regex filter: "s.*"', ""]
    assert links(text)[3][1] == "list_tensors -f infinite -n s.* -s dump_size"
    assert ask("list_tensors -f odd").lines == ['ERROR: There is no tensor filter named "odd".']
    assert "ValueError: Unsupported key to sort tensors by: odd" in ask("list_tensors -s odd").lines


def test_a_node_is_shown_with_its_neighbors(ask):
    text = ask("node_info s/z:0")
    assert text.lines == [
        "Node s/z",
        "",
        "  Op: Mul",
        f"  Device: {CPU}",
        "",
        "  2 input(s) + 1 control input(s):",
        "    2 input(s):",
        "      [Unique] s/pair:1",
        "      [Identity] s/u/read",
        "",
        "    1 control input(s):",
        "      [MatMul] s/w",
        "",
        "  0 recipient(s) + 0 control recipient(s):",
        "    0 recipient(s):",
    ]
    assert links(text)[7] == ["ni -a -d -t s/pair"]
    assert enabled(text) == ["list_tensors", "print_tensor", "list_inputs", "list_outputs", "run_info", "help"]
    assert ask("node_info no").lines == ['ERROR: There is no node named "no" in the partition graphs']


def test_a_node_is_shown_with_its_dumps_and_where_it_was_made(ask, dump):
    text = ask("node_info -d -t s/pair")
    assert text.lines[-8:] == [
        "2 dumped tensor(s):",
        "",
        "  Slot 0 @ DebugIdentity @ 2.000 ms",
        "  Slot 1 @ DebugIdentity @ 2.001 ms",
        "",
        "",
        "Traceback of node construction:",
        "(Unavailable because no Python graph has been loaded)",
    ]
    assert links(text)[len(text.lines) - 5] == ["pt s/pair:1 -n 0"]
    tf.constant(1.0, name="s/u")
    dump.set_python_graph(tf.get_default_graph())
    lines = ask("node_info -t s/u").lines
    first = lines.index(next(line for line in lines if line.endswith("test_analyzer.py")))
    assert lines[first + 2 : first + 4] == [
        "  Function: test_a_node_is_shown_with_its_dumps_and_where_it_was_made",
        '  Text:     "tf.constant(1.0, name="s/u")"',
    ]
    assert ask("node_info -t s/w").lines[-1] == "(Unavailable because the node is not in the Python graph)"


def test_inputs_and_recipients_are_trees(ask):
    text = ask("list_inputs -c -r -t s/z")
    assert text.lines == [
        'Inputs to node "s/z" (Depth limit = 20, control inputs included):',
        "|- (1) [Unique] s/pair:1",
        "|  |- (2) [MatMul] s/w",
        "|     |- (3) [Identity] s/u/read",
        "|     |  |- (4) [VariableV2] s/u",
        "|     |- (3) [Identity] s/u/read",
        "|        |- (4) [VariableV2] s/u",
        "|- (1) [Identity] s/u/read",
        "|  |- (2) [VariableV2] s/u",
        "|- (1) (Ctrl) [MatMul] s/w",
        "   |- (2) [Identity] s/u/read",
        "   |  |- (3) [VariableV2] s/u",
        "   |- (2) [Identity] s/u/read",
        "      |- (3) [VariableV2] s/u",
        "",
        "Legend:",
        "  (d): recursion depth = d.",
        "  (Ctrl): Control input.",
        "  [Op]: Input node has op type Op.",
    ]
    assert links(text)[1] == ["li -c -r s/pair"]
    assert ask("list_outputs -r -d 2 s/u").lines[:5] == [
        'Recipients of node "s/u" (Depth limit = 2):',
        "|- (1) s/u/read",
        "   |- (2) s/w",
        "   |  |- ...",
        "   |- (2) s/w",
    ]
    assert ask("list_inputs s/u").lines[1] == "  [None]"


def test_the_setting_of_the_depth_is_heard(dump, tmp_path):
    config = CLIConfig(str(tmp_path / "config"))
    analyzer = DebugAnalyzer(dump, config)
    config.set("graph_recursion_depth", 3)
    assert analyzer.list_inputs(["-r", "s/z"]).lines[0] == 'Inputs to node "s/z" (Depth limit = 3):'


def test_a_tensor_is_printed(ask, tmp_path):
    assert ask("print_tensor s/u").lines == [
        'Tensor "s/u:0:DebugIdentity":',
        "  dtype: float32",
        "  shape: (2, 2)",
        "",
        "array([[ 5.,  3.],",
        "       [-1.,  0.]], dtype=float32)",
    ]
    text = ask("print_tensor s/w:0[0,:] -r [20,30]")
    assert text.lines[0] == 'Tensor "s/w:0:DebugIdentity[0,:]": Highlighted([20,30]): 1 of 2 element(s) (50.00%)'
    assert text.font_attr_segs[4] == [(7, 10, "bold")]
    ask(f"print_tensor s/u -w {tmp_path}/u.npy")
    assert np.load(tmp_path / "u.npy").tolist() == [[5, 3], [-1, 0]]


def test_of_several_dumps_one_is_chosen(ask):
    text = ask("print_tensor s/z:0")
    assert text.lines == [
        'Tensor "s/z:0" generated 3 dumps:',
        "#0 [3.000 ms] s/z:0:DebugIdentity",
        "#1 [3.001 ms] s/z:0:DebugIdentity",
        "#2 [3.002 ms] s/z:0:DebugIdentity",
        "",
        "You can use the -n (--number) flag to specify which dump to print.",
        "For example:",
        "  print_tensor s/z:0 -n 0",
    ]
    assert links(text)[2] == ["print_tensor s/z:0 -n 1"]
    text = ask("print_tensor s/z:0 -n 2")
    assert (text.lines[0], text.lines[-1]) == ('Tensor "s/z:0:DebugIdentity (dump #2)":', "array(2)")


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("print_tensor no:0", 'Node "no" does not exist in partition graphs'),
        ("print_tensor s/u:1", 'Tensor "s/u:1" did not generate any dumps.'),
        ("print_tensor s/u -n 1", "Invalid number (1) for tensor s/u:0, which generated one dump."),
        ("print_tensor s/z:0 -n 3", "Specified number (3) exceeds the number of available dumps (3) for tensor s/z:0"),
        ("print_tensor s/pair", 'Node "s/pair" generated dumps from 2 output slots. Say which one: s/pair:0, s/pair:1'),
    ],
)
def test_what_cannot_be_printed_is_said(ask, command, error):
    assert ask(command).lines == [f"ERROR: {error}"]


def test_expressions_are_evaluated(ask):
    text = ask("eval `s/u:0`.T[0]")
    assert text.lines[0] == "Tensor \"from eval of expression '`s/u:0`.T[0]'\":"
    assert "Numeric summary:" in text.lines and text.lines[-1] == "array([ 5., -1.], dtype=float32)"
    assert ask("eval float(np.sum(`s/u:0`))").lines[-1] == "7.0"


def test_a_source_is_shown_with_the_ops_that_its_lines_made(ask, dump, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import everflow as tf\n\nu = [tf.Variable(1.0, name='s/u')] + [tf.constant(i, name=f's/c{i}') for i in range(2)]\n")
    exec(compile(program.read_text(), str(program), "exec"), {})
    assert "lack of set Python graph" in ask(f"print_source {program}").lines[1]
    dump.set_python_graph(tf.get_default_graph())
    text = ask(f"print_source {program} -b 3 -m 4")
    assert text.lines[0].split() == ["L1", "import", "everflow", "as", "tf"] and text.annotations[INIT_SCROLL_POS_KEY] == 2
    assert text.lines[3:8] == ["    s/c0", "    s/c1", "    s/u", "    s/u/Assign", "    (... Omitted 2 of 6 op(s) ...) +5"]
    assert links(text) == {5: ["pt s/u"], 7: [f"ps {program} -b 3 -m 9"]}
    assert text.font_attr_segs[3] == [(4, 8, "blue")]
    assert ask(f"print_source {program} -t").lines[3:5] == ["    s/u:0", text.lines[8]]


def test_the_sources_of_a_run_are_listed(ask, dump, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import everflow as tf\ntf.constant(1.0, name='s/u')\n")
    exec(compile(program.read_text(), str(program), "exec"), {})
    dump.set_python_graph(tf.get_default_graph())
    text = ask(f"list_source -p {program}")
    assert text.lines[:2] == ["List of source files that created nodes in this run", f'File path regex filter: "{program}"']
    assert text.lines[3:5] == [
        "File(s) outside TensorFlow Python library:",
        "Source file path".ljust(len(str(program)) + 1) + "#(nodes) #(tensors) #(tensor dumps)",
    ]
    assert text.lines[5].split() == [str(program), "1", "1", "1"] and links(text)[5] == [f"ps {program} -b 2"]
    assert ask("list_source -p nothing").lines[-1] == "[No source file information.]"


def test_filters_have_names_and_are_functions(ask):
    with pytest.raises(ValueError, match="filter_name cannot be empty"):
        ask.analyzer.add_tensor_filter("", print)
    with pytest.raises(TypeError, match="filter_callable is expected to be callable"):
        ask.analyzer.add_tensor_filter("a", "b")


def test_the_interface_completes_names_of_tensors_and_nodes(dump, tmp_path):
    ui = create_analyzer_ui(dump, {"all": lambda datum, tensor: True}, "readline", config=CLIConfig(str(tmp_path / "config")))
    assert ui._readline_complete("pt s/p", 1) == "pt s/pair:1"
    assert ui._readline_complete("ni -a s/u/", 0) == "ni -a s/u/read"
    assert ui._command_handler_registry.dispatch_command("lt", ["-f", "all"]).lines[0] == '7 dumped tensor(s) passing filter "all":'
