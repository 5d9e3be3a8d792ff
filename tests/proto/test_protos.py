"""What TensorFlow writes into files and onto wires, we read with the same numbers and names, and the reverse."""

import importlib
import pathlib
import pickle
import subprocess
import sys

import pytest
from google.protobuf import text_format, unknown_fields

from everflow import proto
from everflow.proto.modules import MODULES

ROOT = pathlib.Path(__file__).resolve().parents[2]

FIELD_NUMBERS = {
    "graph_pb2.GraphDef": {"node": 1, "library": 2, "version": 3, "versions": 4},
    "node_def_pb2.NodeDef": {"name": 1, "op": 2, "input": 3, "device": 4, "attr": 5},
    "attr_value_pb2.AttrValue": {
        "list": 1,
        "s": 2,
        "i": 3,
        "f": 4,
        "b": 5,
        "type": 6,
        "shape": 7,
        "tensor": 8,
        "placeholder": 9,
        "func": 10,
    },
    "tensor_pb2.TensorProto": {
        "dtype": 1,
        "tensor_shape": 2,
        "tensor_content": 4,
        "float_val": 5,
        "string_val": 8,
        "int64_val": 10,
        "bool_val": 11,
        "half_val": 13,
        "uint64_val": 17,
    },
    "tensor_shape_pb2.TensorShapeProto": {"dim": 2, "unknown_rank": 3},
    "function_pb2.FunctionDef": {"signature": 1, "node_def": 3, "ret": 4, "attr": 5, "control_ret": 6},
    "meta_graph_pb2.MetaGraphDef": {
        "meta_info_def": 1,
        "graph_def": 2,
        "saver_def": 3,
        "collection_def": 4,
        "signature_def": 5,
        "object_graph_def": 7,
    },
    "saved_model_pb2.SavedModel": {"saved_model_schema_version": 1, "meta_graphs": 2},
    "tensor_bundle_pb2.BundleEntryProto": {"dtype": 1, "shape": 2, "shard_id": 3, "offset": 4, "size": 5, "crc32c": 6, "slices": 7},
    "event_pb2.Event": {"wall_time": 1, "step": 2, "file_version": 3, "graph_def": 4, "summary": 5},
    "summary_pb2.Summary.Value": {"tag": 1, "simple_value": 2, "image": 4, "histo": 5, "audio": 6, "tensor": 8},
    "feature_pb2.Feature": {"bytes_list": 1, "float_list": 2, "int64_list": 3},
    "config_pb2.ConfigProto": {"device_count": 1, "gpu_options": 6, "allow_soft_placement": 7, "graph_options": 10},
    "predict_pb2.PredictRequest": {"model_spec": 1, "inputs": 2, "output_filter": 3},
    "master_pb2.RunStepRequest": {"session_handle": 1, "feed": 2, "fetch": 3, "target": 4, "options": 5},
}

METHODS = {
    "prediction_service_pb2_grpc.PredictionServiceStub": "/tensorflow.serving.PredictionService/Predict",
    "model_service_pb2_grpc.ModelServiceStub": "/tensorflow.serving.ModelService/GetModelStatus",
    "session_service_pb2_grpc.SessionServiceStub": "/tensorflow.serving.SessionService/SessionRun",
    "master_service_pb2_grpc.MasterServiceStub": "/tensorflow.MasterService/RunStep",
    "worker_service_pb2_grpc.WorkerServiceStub": "/tensorflow.WorkerService/RecvTensor",
    "eager_service_pb2_grpc.EagerServiceStub": "/tensorflow.eager.EagerService/Enqueue",
    "debug_service_pb2_grpc.EventListenerStub": "/tensorflow.EventListener/SendEvents",
    "profiler_service_pb2_grpc.ProfilerServiceStub": "/tensorflow.ProfilerService/Profile",
}


def named(path):
    """The object at `module.Class.Inner`, the module by its bare name."""
    thing = proto
    for word in path.split("."):
        thing = getattr(thing, word)
    return thing


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True)


def has_unknown_fields(message):
    if len(unknown_fields.UnknownFieldSet(message)):
        return True
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            inner = value.values() if field.message_type.fields_by_name["value"].message_type else ()
        else:
            inner = [value] if hasattr(value, "DESCRIPTOR") else value
        if any(map(has_unknown_fields, inner)):
            return True
    return False


class Channel:
    """Stands for a gRPC channel and notes the routes that a stub asks for."""

    def __init__(self):
        self.routes = {}

    def __getattr__(self, kind):
        return lambda route, **_: self.routes.setdefault(route, kind)


@pytest.mark.parametrize("path", FIELD_NUMBERS)
def test_fields_have_their_wire_numbers(path):
    fields = named(path).DESCRIPTOR.fields_by_name
    assert {name: fields[name].number for name in FIELD_NUMBERS[path]} == FIELD_NUMBERS[path]


def test_data_types_have_their_wire_numbers():
    types = proto.types_pb2
    numbers = {
        "DT_FLOAT": 1,
        "DT_INT32": 3,
        "DT_STRING": 7,
        "DT_INT64": 9,
        "DT_BOOL": 10,
        "DT_BFLOAT16": 14,
        "DT_HALF": 19,
        "DT_RESOURCE": 20,
        "DT_VARIANT": 21,
        "DT_UINT64": 23,
        "DT_FLOAT_REF": 101,
    }
    assert {name: types.DataType.Value(name) for name in numbers} == numbers


def test_optimizer_levels_may_be_negative():
    options = proto.config_pb2.OptimizerOptions
    assert (options.L0, options.L1, options.OFF, options.ON_2) == (-1, 0, -1, 2)


def test_node_has_the_expected_bytes():
    node = proto.node_def_pb2.NodeDef(name="a", op="B")
    node.attr["x"].list.i.extend([1, 2])
    # attr is a map (field 5) whose list (1) packs its integers (3) into one field.
    assert node.SerializeToString() == bytes.fromhex("0a0161 120142 2a0b 0a0178 1206 0a04 1a020102")


def test_example_has_the_expected_bytes():
    example = proto.example_pb2.Example()
    example.features.feature["n"].int64_list.value.extend([3, 300])
    assert example.SerializeToString() == bytes.fromhex("0a0e 0a0c 0a016e 1207 1a05 0a03 03 ac02")


def test_unpacked_numbers_of_old_writers_are_read():
    assert list(proto.feature_pb2.Int64List.FromString(bytes.fromhex("0803 08ac02")).value) == [3, 300]


def test_a_graph_written_by_tensorflow_survives_reading_and_writing():
    data = (ROOT / "tests" / "data" / "mlp_graph.pb").read_bytes()
    graph = proto.graph_pb2.GraphDef.FromString(data)
    assert {"MatMul", "Const"} <= {node.op for node in graph.node}
    assert not has_unknown_fields(graph)
    written = graph.SerializeToString()
    assert len(written) == len(data)  # maps have no order, so equal bytes can't be asked for
    assert proto.graph_pb2.GraphDef.FromString(written) == graph
    assert text_format.Parse(text_format.MessageToString(graph), proto.graph_pb2.GraphDef()) == graph


def test_checkpoint_state_is_read_as_text():
    text = 'model_checkpoint_path: "m-2"\nall_model_checkpoint_paths: "m-1"\nall_model_checkpoint_paths: "m-2"\n'
    state = text_format.Parse(text, proto.checkpoint_state_pb2.CheckpointState())
    assert list(state.all_model_checkpoint_paths) == ["m-1", "m-2"]
    assert text_format.MessageToString(state) == text


def test_only_one_member_of_a_oneof_is_set():
    value = proto.attr_value_pb2.AttrValue(i=3)
    value.s = b"x"
    assert value.WhichOneof("value") == "s"
    assert not value.HasField("i")


@pytest.mark.parametrize("path", METHODS)
def test_services_are_called_by_their_wire_names(path):
    channel = Channel()
    named(path)(channel)
    assert METHODS[path] in channel.routes


def test_debug_events_stream_both_ways():
    channel = Channel()
    proto.debug_service_pb2_grpc.EventListenerStub(channel)
    assert channel.routes["/tensorflow.EventListener/SendEvents"] == "stream_stream"
    assert channel.routes["/tensorflow.EventListener/SendTracebacks"] == "unary_unary"


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_module_is_found_by_its_bare_name(name):
    module = getattr(proto, name)
    assert module is importlib.import_module("everflow.proto." + MODULES[name])
    if name.endswith("_pb2"):
        assert module.DESCRIPTOR.name == MODULES[name].removesuffix("_pb2").replace(".", "/") + ".proto"


def test_an_unknown_module_is_an_import_error():
    with pytest.raises(ImportError, match="nonsense_pb2"):
        from everflow.proto import nonsense_pb2  # noqa: F401


def test_importing_graphs_imports_only_what_graphs_are_made_of():
    code = "import sys; from everflow.proto import graph_pb2; print(*sys.modules)"
    names = [name.rpartition(".")[2] for name in run("-c", code).stdout.split()]
    loaded = {name for name in names if "_pb2" in name or name == "grpc"}
    assert loaded == {
        "graph_pb2",
        "node_def_pb2",
        "attr_value_pb2",
        "function_pb2",
        "op_def_pb2",
        "tensor_pb2",
        "tensor_shape_pb2",
        "types_pb2",
        "resource_handle_pb2",
        "versions_pb2",
    }


def test_messages_can_be_pickled():
    graph = proto.graph_pb2.GraphDef()
    graph.node.add(name="a", op="NoOp")
    assert pickle.loads(pickle.dumps(graph)) == graph


def test_generated_code_is_that_of_the_sources():
    pytest.importorskip("grpc_tools", reason="grpcio-tools compiles the sources to compare with")
    result = run("tools/protos.py", "check")
    assert result.returncode == 0, result.stderr
