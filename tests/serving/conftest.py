"""Small models, and servers that serve them."""

import pathlib

import pytest

pytest.importorskip("aiohttp", reason="the extra `serve` is not installed")
pytest.importorskip("grpc_health", reason="the extra `serve` is not installed")

import grpc

import everflow as tf
from everflow.proto import model_service_pb2_grpc, prediction_service_pb2_grpc, session_service_pb2_grpc
from everflow.saved_model import constants
from everflow.serving.flags import Options
from everflow.serving.server import serving


def export_line(folder, slope=0.5, offset=2.0):
    """slope * x + offset: to predict with (x, [?, 1]), to classify and to regress examples with."""
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = tf.get_variable("a", initializer=slope), tf.get_variable("b", initializer=offset)
        examples = tf.placeholder(tf.string, [None], name="examples")
        parsed = tf.parse_example(examples, {"x": tf.FixedLenFeature([1], tf.float32)})
        x = tf.placeholder_with_default(parsed["x"], [None, 1], name="x")
        y = tf.add(a * x, b, name="y")
        labels = tf.as_string(y, precision=1, name="labels")
        session.run(tf.global_variables_initializer())
        info = tf.saved_model.build_tensor_info

        def signature(inputs, outputs, method):
            return tf.saved_model.build_signature_def(
                {name: info(t) for name, t in inputs.items()}, {name: info(t) for name, t in outputs.items()}, method
            )

        builder = tf.saved_model.Builder(str(folder))
        builder.add_meta_graph_and_variables(
            session,
            [tf.saved_model.tag_constants.SERVING],
            {
                "serving_default": signature({"x": x}, {"y": y}, constants.PREDICT_METHOD_NAME),
                "named": signature({"x": x}, {"y": y, "label": labels, "label_bytes": labels}, constants.PREDICT_METHOD_NAME),
                "classify": signature({"inputs": examples}, {"classes": labels, "scores": y}, constants.CLASSIFY_METHOD_NAME),
                "regress": signature({"inputs": examples}, {"outputs": y}, constants.REGRESS_METHOD_NAME),
            },
        )
        builder.save()
    return pathlib.Path(folder)


@pytest.fixture(scope="session", name="export_line")
def _export_line():
    return export_line


@pytest.fixture(scope="session")
def line(tmp_path_factory):
    """The base path of a model with one version, 123: 0.5 x + 2."""
    base = tmp_path_factory.mktemp("line")
    export_line(base / "00000123")
    return base


class Client:
    """Stubs of a server's services, and its REST address."""

    def __init__(self, server):
        self.server = server
        self.channel = grpc.insecure_channel(f"localhost:{server.port}")
        self.prediction = prediction_service_pb2_grpc.PredictionServiceStub(self.channel)
        self.model = model_service_pb2_grpc.ModelServiceStub(self.channel)
        self.session = session_service_pb2_grpc.SessionServiceStub(self.channel)
        self.url = f"http://localhost:{server.rest_port}"


@pytest.fixture
def serve():
    """serve(**options): a client of a new server."""
    import contextlib

    with contextlib.ExitStack() as stack:

        def start(platforms=None, **options):
            given = {"port": -1, "rest_api_port": -1, "host": "localhost", "max_num_load_retries": 0, **options}
            client = Client(stack.enter_context(serving(Options(**given), platforms)))
            stack.callback(client.channel.close)
            return client

        yield start


@pytest.fixture(scope="module")
def client(line):
    """A client of a server of the line, under the name `default`."""
    with serving(Options(port=-1, rest_api_port=-1, host="localhost", model_base_path=str(line))) as server:
        found = Client(server)
        yield found
        found.channel.close()
