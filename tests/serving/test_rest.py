"""The REST interface: forms of requests, answers, and errors with their codes."""

import gzip
import http.client
import json
import socket
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

import everflow as tf
from everflow.serving import json_tensors


def ask(client, path, body=None, headers=None, method=None):
    """(status, JSON) of a request."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(client.url + path, data, headers or {}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            text = answer.read()
            if answer.headers.get("Content-Encoding") == "gzip":
                text = gzip.decompress(text)
            return answer.status, json.loads(text)
    except urllib.error.HTTPError as e:
        return e.code, json.loads(e.read())


PREDICT = "/v1/models/default:predict"


def test_rows_and_columns(client):
    assert ask(client, PREDICT, {"instances": [[2.0], [3]]}) == (200, {"predictions": [[3.0], [3.5]]})
    assert ask(client, PREDICT, {"instances": [{"x": [2.0]}]}) == (200, {"predictions": [[3.0]]})
    assert ask(client, PREDICT, {"inputs": {"x": [[2.0]]}}) == (200, {"outputs": [[3.0]]})
    assert ask(client, PREDICT, {"inputs": [2.0, 3.0]}) == (200, {"outputs": [3.0, 3.5]})


def test_several_outputs_have_names_and_bytes_are_base64(client):
    request = {"signature_name": "named", "instances": [[2.0]]}
    assert ask(client, PREDICT, request) == (200, {"predictions": [{"label": ["3.0"], "label_bytes": [{"b64": "My4w"}], "y": [3.0]}]})


def test_versions(client):
    assert ask(client, "/v1/models/default/versions/123:predict", {"instances": [[2.0]]})[0] == 200
    status, answer = ask(client, "/v1/models/default/versions/9:predict", {"instances": [[2.0]]})
    assert (status, answer) == (404, {"error": "Servable not found for request: Specific(default, 9)"})
    status, answer = ask(client, "/v1/models/default/labels/l:predict", {"instances": [[2.0]]})
    assert (status, answer) == (400, {"error": "Unrecognized servable version label: l"})


def test_classify_and_regress(client):
    request = {"signature_name": "classify", "examples": [{"x": 2.0}]}
    assert ask(client, "/v1/models/default:classify", request) == (200, {"results": [[["3.0", 3.0]]]})
    request = {"signature_name": "regress", "context": {"x": 4.0}, "examples": [{}, {"x": 0.2}]}
    assert ask(client, "/v1/models/default:regress", request) == (200, {"results": [4.0, 2.1]})
    # A whole number is an int64 feature, which this model does not take.
    status, _ = ask(client, "/v1/models/default:regress", {"signature_name": "regress", "examples": [{"x": 2}]})
    assert status == 400


def test_status_and_metadata(client):
    status = {"version": "123", "state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}
    assert ask(client, "/v1/models/default") == (200, {"model_version_status": [status]})
    code, told = ask(client, "/v1/models/default/metadata")
    assert code == 200
    assert told["model_spec"] == {"name": "default", "signature_name": "", "version": "123"}
    x = told["metadata"]["signature_def"]["signature_def"]["serving_default"]["inputs"]["x"]
    assert x["dtype"] == "DT_FLOAT"
    assert [d["size"] for d in x["tensor_shape"]["dim"]] == ["-1", "1"]
    assert ask(client, "/v1/models/x") == (404, {"error": "Could not find any versions of model x"})


def test_compressed_bodies_both_ways(client):
    body = gzip.compress(json.dumps({"instances": [[float(i)] for i in range(2000)]}).encode())
    status, answer = ask(client, PREDICT, body, {"Content-Encoding": "gzip", "Accept-Encoding": "gzip"})
    assert status == 200
    assert answer["predictions"][-1] == [1001.5]


@pytest.mark.parametrize(
    "body, message",
    [
        (b"", "JSON Parse error: The document is empty"),
        (b"{", "JSON Parse error: "),
        (b"[1]", "Is not object"),
        (b"\xff\xfe", "JSON Parse error: "),
        (b"[" * 100_000, "JSON Parse error: "),
        ({}, "Missing 'inputs' or 'instances' key"),
        ({"instances": 1}, "Expecting 'instances' to be an list/array"),
        ({"instances": []}, "No values in 'instances' array"),
        ({"instances": [1], "more": 1}, "Not formatted correctly expecting only"),
        ({"instances": [["a"]]}, 'JSON Value: "a" Type: String is not of expected type: float'),
        ({"instances": [[1.0], 2.0]}, "found at incorrect level"),
        ({"instances": [[1.0], [2.0, 3.0]]}, "Encountered list at unexpected size: 2"),
        ({"instances": [{"z": 1.0}]}, "does not have named input: x"),
        ({"instances": [{"x": [1.0], "z": 1.0}]}, "must only have keys: x"),
        ({"instances": [1.0], "signature_name": 1}, "'signature_name' key must be a string value."),
        ({"instances": [1.0], "signature_name": "s"}, 'Serving signature name: "s" not found in signature def'),
        ({"inputs": {"z": 1}}, "Missing named input: x in 'inputs' object."),
        ({"instances": [10**400]}, "without loss of precision"),
    ],
)
def test_bad_bodies(client, body, message):
    status, answer = ask(client, PREDICT, body)
    assert status == 400
    assert message in answer["error"]


def test_other_paths(client):
    assert ask(client, "/v1/other") == (400, {"error": "Malformed request: GET /v1/other"})
    assert ask(client, PREDICT) == (400, {"error": "Malformed request: GET /v1/models/default:predict"})
    assert ask(client, "/other")[0] == 404
    assert ask(client, "/v1/models") == (400, {"error": "Missing model name in request."})


def test_a_connection_that_says_nothing_is_closed_and_one_that_does_stays(serve, line, monkeypatch):
    monkeypatch.setattr("everflow.serving.rest._HEAD_SECONDS", 1.5)
    client = serve(model_base_path=str(line))
    with socket.create_connection(("localhost", client.server.rest_port)) as silent:
        silent.sendall(b"POST /v1/mod")
        silent.settimeout(300)
        assert silent.recv(100) == b""
    talking = http.client.HTTPConnection("localhost", client.server.rest_port, timeout=300)
    for pause in (1.6, 0.0):
        talking.request("POST", PREDICT, b'{"instances": [[2.0]]}')
        assert talking.getresponse().read() == b'{\n    "predictions": [[3.0]]\n}'
        time.sleep(pause)
    talking.close()


def test_numbers_that_are_not_finite(client):
    with urllib.request.urlopen(client.url + PREDICT, b'{"instances": [[NaN], [Infinity], [-Infinity], [1e39]]}') as answer:
        assert b"[[NaN], [Infinity], [-Infinity], [Infinity]]" in answer.read()


def shown(array):
    return json_tensors.dumped(json_tensors.listed(array, "x")).decode()


def test_floats_have_the_fewest_digits_that_tell_them_apart():
    assert shown(np.array([0.1, 1.0, 3.1415927, 1e10, 123456.79, -0.0, 2.5e-7], np.float32)) == (
        "[0.1, 1.0, 3.1415927, 10000000000.0, 123456.79, -0.0, 2.5e-07]"
    )
    assert shown(np.array(0.1)) == "0.1"
    assert shown(np.array([0.1], np.float16)) == "[0.1]"
    rng = np.random.RandomState(0)
    bits = rng.randint(0, 2**32, 5000, np.uint64).astype(np.uint32)
    array = bits.view(np.float32)
    array = array[np.isfinite(array)]
    texts = json.loads(shown(array), parse_float=str)
    np.testing.assert_array_equal(np.array([np.float32(t) for t in texts]), array)
    assert all(float(t) == float(str(a)) for t, a in zip(texts, array))


def test_other_types_in_json():
    assert shown(np.array([[1, 2], [3, 4]])) == "[[1, 2], [3, 4]]"
    assert shown(np.array([True, False])) == "[true, false]"
    assert shown(np.zeros((2, 0), np.float32)) == "[[], []]"
    text = np.array(["é".encode(), b"\xff"], object)
    assert json_tensors.dumped(json_tensors.listed(text, "x")) == '["é", "'.encode() + b'\xff"]'


def test_integers_must_fit():
    from everflow.errors import InvalidArgumentError
    from everflow.proto import meta_graph_pb2, types_pb2

    infos = {"x": meta_graph_pb2.TensorInfo(dtype=types_pb2.DT_INT8)}
    assert json_tensors.arrays({"instances": [1, -128]}, infos)[0]["x"].tolist() == [1, -128]
    for wrong in (1.5, 128, "a", None, True):
        with pytest.raises(InvalidArgumentError):
            json_tensors.arrays({"instances": [wrong]}, infos)


def test_strings_as_text_and_base64():
    from everflow.proto import meta_graph_pb2, types_pb2

    infos = {"x": meta_graph_pb2.TensorInfo(dtype=types_pb2.DT_STRING)}
    given = {"instances": ["a", {"b64": "/w=="}, {"b64": "/w"}]}
    assert json_tensors.arrays(given, infos)[0]["x"].tolist() == [b"a", b"\xff", b"\xff"]


def test_a_session_bundle_is_served_with_the_types_of_its_graph(serve, tmp_path):
    exporter = tf.contrib.session_bundle.exporter
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 1])
        y = tf.Variable(0.5) * x + 2.0
        session.run(tf.global_variables_initializer())
        export = exporter.Exporter(tf.train.Saver())
        named = {"inputs": exporter.generic_signature({"x": x}), "outputs": exporter.generic_signature({"y": y})}
        export.init(session.graph.as_graph_def(), named_graph_signatures=named)
        export.export(str(tmp_path), tf.constant(7), session)
    client = serve(model_base_path=str(tmp_path))
    assert ask(client, PREDICT, {"instances": [[4.0]]}) == (200, {"predictions": [[4.0]]})
    signature = ask(client, "/v1/models/default/metadata")[1]["metadata"]["signature_def"]["signature_def"]["serving_default"]
    assert signature["inputs"]["x"]["dtype"] == "DT_FLOAT"
