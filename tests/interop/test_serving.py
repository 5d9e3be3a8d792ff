"""The real tensorflow-serving-api package as a client of the model server, and models as they were exported for the original."""

import subprocess
import sys

import pytest

pytest.importorskip("aiohttp", reason="the extra `serve` is not installed")

import everflow as tf
from everflow.serving.flags import Options
from everflow.serving.server import serving

CLIENT = """
import sys, grpc, numpy as np, tensorflow as tf
from tensorflow_serving.apis import get_model_status_pb2, model_service_pb2_grpc, predict_pb2, prediction_service_pb2_grpc

channel = grpc.insecure_channel(sys.argv[1])
request = predict_pb2.PredictRequest()
request.model_spec.name = "line"
request.inputs["x"].CopyFrom(tf.make_tensor_proto(np.array([[2.0], [4.0]], np.float32)))
response = prediction_service_pb2_grpc.PredictionServiceStub(channel).Predict(request, timeout=300)
status = get_model_status_pb2.GetModelStatusRequest()
status.model_spec.name = "line"
told = model_service_pb2_grpc.ModelServiceStub(channel).GetModelStatus(status, timeout=300)
print(tf.make_ndarray(response.outputs["y"]).tolist(), response.model_spec.version.value, told.model_version_status[0].state)
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    base = tmp_path_factory.mktemp("line")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 1])
        y = x * tf.get_variable("a", initializer=0.5) + 2.0
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(base / "7"), {"x": x}, {"y": y})
    with serving(Options(port=-1, host="localhost", model_name="line", model_base_path=str(base))) as server:
        yield f"localhost:{server.port}"


def printed(command, address, tmp_path):
    script = tmp_path / "client.py"
    script.write_text(CLIENT)
    done = subprocess.run([*command, script, address], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


def test_a_client_program_under_everflow_run(address, tmp_path):
    assert printed([sys.executable, "-m", "everflow", "run"], address, tmp_path) == "[[3.0], [4.0]] 7 30"


def test_the_real_package_as_client(address, serving_api_python, tmp_path):
    assert printed([serving_api_python], address, tmp_path) == "[[3.0], [4.0]] 7 30"
