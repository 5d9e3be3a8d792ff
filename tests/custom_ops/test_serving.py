"""Models with ops in C++, served by a process that is told of their library."""

import json
import os
import pathlib
import subprocess
import sys
import urllib.request

import pytest

import everflow as tf
from everflow.platform.ports import free_ports

ROOT = pathlib.Path(tf.__file__).parent.parent
pytest.importorskip("aiohttp", reason="the extra `serve` is not installed")


@pytest.fixture
def model(ops, tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        texts = tf.placeholder(tf.string, [None])
        tf.saved_model.simple_save(session, str(tmp_path / "model/1"), {"texts": texts}, {"turned": ops.backwards(texts)})
    return tmp_path / "model"


def server(model, ports, *flags):
    given = [f"--port={ports[0]}", f"--rest_api_port={ports[1]}", f"--model_base_path={model}", "--file_system_poll_wait_seconds=0", *flags]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "everflow.serving.server", *given]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)


def test_a_server_loads_the_ops_that_its_models_use(model, ops_library):
    ports = free_ports(2)
    process = server(model, ports, f"--custom_op_libraries={ops_library}")
    try:
        assert any("HTTP/REST API" in line for line in process.stdout)
        url = f"http://localhost:{ports[1]}/v1/models/default:predict"
        with urllib.request.urlopen(url, b'{"instances": ["abc", "xy"]}', timeout=300) as answer:
            assert json.load(answer) == {"predictions": ["cba", "yx"]}
    finally:
        process.kill()
        process.communicate()


def test_a_library_that_is_none_is_named(model):
    process = server(model, free_ports(2), "--custom_op_libraries=nowhere.so")
    said, _ = process.communicate(timeout=300)
    assert process.returncode != 0 and "nowhere.so" in said.splitlines()[-1] and "Traceback" not in said
