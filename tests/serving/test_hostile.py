"""Hostile requests and busy times, the short form of benchmarks/serving_fuzz.py and serving_soak.py."""

import asyncio
import importlib.util
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from everflow.proto import tensor_pb2
from everflow.serving.flags import Options
from everflow.serving.server import ModelServer
from everflow.serving.tensors import decoded, tensor_proto

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def program(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_mutated_requests_are_answered_or_refused(tmp_path):
    fuzzing = program("serving_fuzz")
    fuzzing.export(tmp_path / "m" / "1")
    server = ModelServer(Options(port=-1, model_name="m", model_base_path=str(tmp_path / "m"), file_system_poll_wait_seconds=0))
    server.load()
    tallies, wrong = asyncio.run(fuzzing.fuzz(server, 1500, seed=1))
    asyncio.run(server.close(1))
    assert wrong == []
    assert tallies["REST 200"] > 20
    assert tallies["gRPC OK"] > 20


def test_versions_and_models_change_under_load_and_misbehaving_clients():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(ROOT / "benchmarks" / "serving_soak.py"), "7", "--bad", "10"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert " 0 failed;" in done.stdout, done.stdout + done.stderr
    assert "exit status 0" in done.stdout


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "int8", "int32", "int64", "uint8", "uint16", "uint64", "bool", "complex64"]
)
@pytest.mark.parametrize("count", [0, 1, 31, 1000])
def test_tensors_survive_the_wire(dtype, count):
    import everflow as tf

    array = (np.arange(count) % 120).astype(dtype)
    enum = tf.as_dtype(dtype).as_datatype_enum
    sent = tensor_pb2.TensorProto.FromString(tensor_proto(array, enum).SerializeToString())
    assert not sent.tensor_content
    for found in (decoded(sent), decoded(tf.make_tensor_proto(array))):
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("fields", [
    {"dtype": 1, "tensor_shape": {"dim": [{"size": -1}]}},
    {"dtype": 1, "tensor_shape": {"dim": [{"size": 2**62}, {"size": 2**62}]}, "float_val": [1.0]},
    {"dtype": 1, "tensor_shape": {"dim": [{"size": 2**31}]}, "float_val": [1.0]},
    {"dtype": 1, "tensor_shape": {"dim": [{"size": 1}]}, "tensor_content": b"abc"},
    {"dtype": 1, "tensor_shape": {"dim": [{"size": 1}]}, "float_val": [1.0, 2.0]},
    {"dtype": 7, "tensor_shape": {"dim": [{"size": 2}]}, "tensor_content": b"\xff\xff\xff\xff"},
    {"dtype": 7, "tensor_shape": {"dim": [{"size": 2}]}, "tensor_content": b"\x01\x05a"},
    {"dtype": 0}, {"dtype": 20}, {"dtype": 21}, {"dtype": 1, "tensor_shape": {"unknown_rank": True}},
])  # fmt: skip
def test_tensors_that_contradict_themselves_are_refused(fields):
    with pytest.raises(ValueError):
        decoded(tensor_pb2.TensorProto(**fields))


def test_few_elements_are_continued_with_the_last():
    proto = tensor_pb2.TensorProto(dtype=1, float_val=[1.0, 2.0], tensor_shape={"dim": [{"size": 4}]})
    assert decoded(proto).tolist() == [1.0, 2.0, 2.0, 2.0]
    assert decoded(tensor_pb2.TensorProto(dtype=7, tensor_shape={"dim": [{"size": 1}]})).tolist() == [b""]
