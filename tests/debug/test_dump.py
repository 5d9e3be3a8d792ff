"""What DebugDumpDir tells of a folder in TensorFlow's layout. Names, orders and errors are those of 1.15.5 for the same files."""

import numpy as np
import pytest
from dump_making import CPU, CPU_FOLDER, graph_def, write_graph, write_message, write_tensor

import everflow as tf
from everflow.debug.dump import DebugDumpDir, WatchKeyDoesNotExistInDebugDumpDirError
from everflow.debug.dump_files import DebugTensorDatum, InconvertibleTensorProto, has_inf_or_nan

WATCHED = """
u = VariableV2
u/read = Identity(u, ^__dbg_u:0_0_DebugIdentity)
x = Const
w = MatMul(__copy_x_0, __copy_u/read_0, ^__dbg_u/read:0_0_DebugIdentity)
inc = AssignAdd(u, x)
done = NoOp(^w)
__copy_u_0 = Copy(u)
__dbg_u:0_0_DebugIdentity = DebugIdentity(__copy_u_0)
__copy_u/read_0 = Copy(u/read)
__dbg_u/read:0_0_DebugIdentity = DebugIdentity(__copy_u/read_0)
__copy_x_0 = Copy(x)
"""


@pytest.fixture
def watched(tmp_path):
    write_graph(tmp_path, graph_def(WATCHED))
    write_tensor(tmp_path, "u_0_DebugIdentity_10", np.float32([1, 2]))
    write_tensor(tmp_path, "u/read_0_DebugIdentity_12", np.float32([1, 2]))
    write_tensor(tmp_path, "w_0_DebugIdentity_15", np.float32([np.inf, 2]))
    write_tensor(tmp_path, "w_0_DebugIdentity_15-1", np.float32([5, 6]))
    write_message(tmp_path, "_tfdbg_fetches_info_7", "Fetches: w")
    metadata = {"global_step": -1, "session_run_index": 3, "executor_step_index": 0}
    names = {"input_names": [], "output_names": ["w:0"], "target_nodes": ["done"]}
    write_message(tmp_path, "_tfdbg_core_metadata_sessionrun00000000000003_8", {**metadata, **names})
    return tmp_path


def test_the_root_must_exist(tmp_path):
    with pytest.raises(OSError, match="Dump root directory .*nowhere does not exist"):
        DebugDumpDir(str(tmp_path / "nowhere"))


def test_an_empty_root_holds_nothing_and_knows_no_graph(tmp_path):
    dump = DebugDumpDir(str(tmp_path))
    assert (dump.size, dump.t0, dump.dumped_tensor_data, dump.devices(), dump.core_metadata) == (0, None, [], [], [])
    assert not dump.loaded_partition_graphs()
    with pytest.raises(LookupError, match="No partition graphs have been loaded"):
        dump.nodes()
    with pytest.raises(LookupError, match="Node inputs are not loaded from partition graphs yet"):
        dump.node_inputs("w")
    with pytest.raises(LookupError, match="Python graph is not available"):
        dump.node_traceback("w")


def test_dumps_come_in_the_order_of_time(watched):
    dump = DebugDumpDir(str(watched))
    assert (dump.size, dump.t0) == (4, 10)
    assert [d.watch_key for d in dump.dumped_tensor_data] == [
        "u:0:DebugIdentity",
        "u/read:0:DebugIdentity",
        "w:0:DebugIdentity",
        "w:0:DebugIdentity",
    ]
    assert [d.extended_timestamp for d in dump.watch_key_to_data("w:0:DebugIdentity")] == ["15", "15-1"]
    assert dump.get_rel_timestamps("w", 0, "DebugIdentity") == [5, 5]
    np.testing.assert_array_equal(dump.get_tensors("w", 0, "DebugIdentity"), [[np.inf, 2], [5, 6]])
    assert dump.get_tensor_file_paths("u", 0, "DebugIdentity") == [str(watched / CPU_FOLDER / "u_0_DebugIdentity_10")]
    assert dump.get_dump_sizes_bytes("u", 0, "DebugIdentity") == [(watched / CPU_FOLDER / "u_0_DebugIdentity_10").stat().st_size]


def test_the_run_is_described(watched):
    dump = DebugDumpDir(str(watched))
    assert dump.core_metadata.session_run_index == 3
    assert dump.core_metadata.output_names == ["w:0"]
    assert dump.run_fetches_info == "Fetches: w"
    assert dump.run_feed_keys_info == []
    write_message(watched, "_tfdbg_fetches_info_8", "Fetches: inc")
    assert DebugDumpDir(str(watched)).run_fetches_info == ["Fetches: w", "Fetches: inc"]


def test_the_graph_is_shown_without_what_the_debugger_added(watched):
    dump = DebugDumpDir(str(watched))
    assert dump.devices() == [CPU]
    assert dump.nodes() == ["u", "u/read", "x", "w", "inc", "done"]
    assert dump.node_inputs("w") == ["x", "u/read"]
    assert dump.node_inputs("done", is_control=True) == ["w"]
    assert dump.node_recipients("u") == ["u/read", "inc"]
    assert dump.node_recipients("w", is_control=True) == ["done"]
    assert dump.node_op_type("inc") == "AssignAdd"
    assert dump.node_device("w") == CPU
    assert dump.node_exists("w") and not dump.node_exists("__copy_x_0")
    assert dump.debug_watch_keys("w") == ["w:0:DebugIdentity"]
    assert dump.debug_watch_keys("nobody") == []
    plain = dump.reconstructed_non_debug_partition_graphs()[CPU]
    assert {n.name: list(n.input) for n in plain.node}["w"] == ["x", "u/read"]


def test_paths_lead_over_control_edges_and_back_from_writers_where_asked(watched):
    dump = DebugDumpDir(str(watched))
    assert dump.transitive_inputs("done") == ["w", "x", "u/read", "u"]
    assert dump.transitive_inputs("done", include_control=False) == []
    assert dump.find_some_path("u", "done") == ["u", "u/read", "w", "done"]
    assert dump.find_some_path("u", "done", include_control=False) is None
    assert dump.find_some_path("x", "u") is None
    assert dump.find_some_path("x", "u", include_reversed_ref=True) == ["x", "inc", "u"]
    assert dump.find_some_path("u", "u") == ["u"]


def test_walks_stop_at_the_merge_of_a_loop(tmp_path):
    loop = "i = Const\nEnter = Enter(i)\nMerge = Merge(Enter, Next)\nSwitch = Switch(Merge)\nadd = Add(Switch:1)\nNext = NextIteration(add)"
    write_graph(tmp_path, graph_def(loop))
    dump = DebugDumpDir(str(tmp_path))
    assert dump.transitive_inputs("Next") == ["add", "Switch:1", "Merge"]
    assert dump.transitive_inputs("Merge") == []
    assert dump.find_some_path("i", "Next") is None


def test_long_chains_are_walked(tmp_path):
    write_graph(tmp_path, graph_def("n0 = Const\n" + "\n".join(f"n{i} = Neg(n{i - 1})" for i in range(1, 3000))))
    assert len(DebugDumpDir(str(tmp_path)).find_some_path("n0", "n2999")) == 3000


def test_unknown_nodes_devices_and_watches(watched):
    dump = DebugDumpDir(str(watched))
    for ask in (dump.node_inputs, dump.node_attributes, dump.node_op_type, dump.node_recipients, dump.transitive_inputs):
        with pytest.raises(ValueError, match=r"None of the 1 device\(s\) has a node named 'nobody'"):
            ask("nobody")
    with pytest.raises(ValueError, match="Node 'nobody' does not exist in partition graphs"):
        dump.node_device("nobody")
    with pytest.raises(ValueError, match="Invalid device name: /gpu"):
        dump.nodes("/gpu")
    with pytest.raises(ValueError, match="The specified device_name '/gpu' cannot be found"):
        dump.node_exists("w", device_name="/gpu")
    with pytest.raises(WatchKeyDoesNotExistInDebugDumpDirError, match='Watch key "w:1:DebugIdentity" does not exist'):
        dump.get_tensors("w", 1, "DebugIdentity")
    assert dump.watch_key_to_data("w:1:DebugIdentity") == []


def test_a_predicate_finds_dumps(watched):
    dump = DebugDumpDir(str(watched))
    assert [d.tensor_name for d in dump.find(has_inf_or_nan)] == ["w:0"]
    assert dump.find(has_inf_or_nan, exclude_node_names="^w$") == []
    assert [d.node_name for d in dump.find(lambda datum, tensor: True, first_n=2)] == ["u", "u/read"]
    assert len(dump.find(lambda datum, tensor: True, device_name=CPU)) == 4


def test_a_name_on_two_devices_needs_the_device(tmp_path):
    gpu = CPU.replace("CPU", "GPU")
    for device, time in ((CPU, 5), (gpu, 3)):
        folder = CPU_FOLDER.replace("CPU", device.rsplit(":", 2)[1])
        write_graph(tmp_path, graph_def("a = Const", device), folder=folder)
        write_tensor(tmp_path, f"a_0_DebugIdentity_{time}", 1.0, folder=folder)
    dump = DebugDumpDir(str(tmp_path))
    assert dump.nodes() == ["a", "a"] and dump.t0 == 3
    assert dump.node_device("a") == [CPU, gpu]
    with pytest.raises(ValueError, match="multiple .* devices with nodes named 'a'"):
        dump.node_inputs("a")
    with pytest.raises(ValueError, match="multiple .* devices"):
        dump.watch_key_to_data("a:0:DebugIdentity")
    assert dump.get_rel_timestamps("a", 0, "DebugIdentity", device_name=CPU) == [2]


def test_a_node_may_not_stand_twice_on_a_device(tmp_path):
    write_graph(tmp_path, graph_def("a = Const\na = Const"))
    with pytest.raises(ValueError, match=f"Duplicate node name on device {CPU}: 'a'"):
        DebugDumpDir(str(tmp_path))


def test_dumps_of_unknown_nodes_are_refused_unless_asked(watched):
    write_tensor(watched, "stranger_0_DebugIdentity_20", 1.0)
    with pytest.raises(ValueError, match="Node name 'stranger' is not found in partition graphs of device"):
        DebugDumpDir(str(watched))
    assert DebugDumpDir(str(watched), validate=False).size == 5


def test_results_may_not_be_older_than_their_inputs(watched):
    write_tensor(watched, "x_0_DebugIdentity_16", 1.0)
    with pytest.raises(ValueError, match=r"Causality violated .*: w \(15\): .* not satisfied: \[\('x', 0\)\]"):
        DebugDumpDir(str(watched))
    (watched / CPU_FOLDER / "x_0_DebugIdentity_16").rename(watched / CPU_FOLDER / "x_0_DebugIdentity_15")
    assert DebugDumpDir(str(watched)).size == 5


def test_given_graphs_stand_before_those_in_the_folder(watched):
    given = graph_def("u = VariableV2\nu/read = Identity(u)\nw = Neg(u/read)")
    assert DebugDumpDir(str(watched), partition_graphs=[given]).node_op_type("w") == "Neg"


def test_ops_are_traced_to_the_program(watched):
    w = tf.constant(1.0, name="w")
    dump = DebugDumpDir(str(watched))
    dump.set_python_graph(w.graph)
    assert dump.python_graph is w.graph
    assert dump.node_traceback("w:0")[-1] == dump.node_traceback("w")[-1]
    assert any(entry[0] == __file__ for entry in dump.node_traceback("w"))
    with pytest.raises(KeyError, match='Cannot find node "foo" in Python graph'):
        dump.node_traceback("foo")


def test_a_datum_is_read_from_its_path(tmp_path):
    datum = DebugTensorDatum("/r", CPU_FOLDER + "/ns/x_y_10_DebugNanCount_100-2")
    assert (datum.node_name, datum.output_slot, datum.debug_op, datum.timestamp) == ("ns/x_y", 10, "DebugNanCount", 100)
    assert (datum.tensor_name, datum.watch_key, datum.device_name) == ("ns/x_y:10", "ns/x_y:10:DebugNanCount", CPU)
    assert str(datum) == f"{{DebugTensorDatum ({CPU}) ns/x_y:10 @ DebugNanCount @ 100}}"
    assert datum.dump_size_bytes is None
    with pytest.raises(ValueError, match="does not conform to the naming pattern: n_DebugIdentity_12"):
        DebugTensorDatum("/r", CPU_FOLDER + "/n_DebugIdentity_12")


def test_what_is_no_array_says_whether_it_was_initialized(watched):
    write_tensor(watched, "x_0_DebugIdentity_11", None)
    write_tensor(watched, "s_0_DebugIdentity_11", np.array([b"a", b"b"], object))
    write_tensor(watched, "e_0_DebugIdentity_11", np.zeros((2, 0), np.float32))
    dump = DebugDumpDir(str(watched), validate=False)
    nothing = dump.get_tensors("x", 0, "DebugIdentity")[0]
    assert isinstance(nothing, InconvertibleTensorProto) and not nothing.initialized
    assert str(nothing).startswith("Uninitialized tensor:")
    assert dump.watch_key_to_data("s:0:DebugIdentity")[0].get_tensor().tolist() == [b"a", b"b"]
    assert dump.watch_key_to_data("e:0:DebugIdentity")[0].get_tensor().shape == (2, 0)


@pytest.mark.parametrize(
    ("tensor", "bad"),
    [
        (np.array([1.0, np.nan]), True),
        (np.array([1j, np.inf]), True),
        (np.float32(np.inf), True),
        (np.array([1.0, 2.0]), False),
        (np.array([]), False),
        (np.array([1, 2]), False),
        (np.array([b"nan"], object), False),
        (tf.bfloat16.as_numpy_dtype(float("nan")), True),
        (InconvertibleTensorProto(None), False),
        (None, False),
    ],
)
def test_infinities_and_nans_are_found_where_there_can_be_any(tensor, bad):
    assert has_inf_or_nan(None, tensor) is bad
