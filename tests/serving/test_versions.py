"""Versions on disk: which are found, how they replace each other, warm-up, custom servables, metrics."""

import shutil
import threading
import time
import urllib.request

import grpc
import numpy as np
import pytest

import everflow as tf
from everflow.errors import FailedPreconditionError
from everflow.proto import (
    file_system_storage_path_source_pb2,
    get_model_status_pb2,
    model_server_config_pb2,
    predict_pb2,
    prediction_log_pb2,
    session_service_pb2,
)
from everflow.serving.servables import Loader, Servable
from everflow.serving.sources import chosen, version_folders


def predict(client, x=2.0, name="default", **spec):
    request = predict_pb2.PredictRequest()
    request.model_spec.name = name
    if "version" in spec:
        request.model_spec.version.value = spec["version"]
    request.inputs["x"].CopyFrom(tf.make_tensor_proto(np.array([[x]], np.float32)))
    response = client.prediction.Predict(request, timeout=300)
    return response.outputs["y"].float_val[0], response.model_spec.version.value


def statuses(client, name="default"):
    request = get_model_status_pb2.GetModelStatusRequest()
    request.model_spec.name = name
    found = client.model.GetModelStatus(request, timeout=300).model_version_status
    return {s.version: get_model_status_pb2.ModelVersionStatus.State.Name(s.state) for s in found}


def until(condition, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def put(source, target):
    """A version as careful people add it: copied beside, then renamed."""
    beside = target.parent.parent / f"{target.parent.name}-{target.name}-new"
    shutil.copytree(source, beside)
    beside.rename(target)


def test_numbered_folders_are_versions(tmp_path):
    for name in ("00000123", "7", "x", "1.5", "-3"):
        (tmp_path / name).mkdir()
    (tmp_path / "9").write_text("a file")
    assert version_folders(str(tmp_path)) == {123: str(tmp_path / "00000123"), 7: str(tmp_path / "7")}


def test_policies():
    found = {n: str(n) for n in (1, 2, 3)}
    policy = file_system_storage_path_source_pb2.FileSystemStoragePathSourceConfig.ServableVersionPolicy
    assert list(chosen(found, policy())) == [3]
    assert list(chosen(found, policy(latest={"num_versions": 2}))) == [3, 2]
    assert list(chosen(found, policy(all={}))) == [1, 2, 3]
    assert list(chosen(found, policy(specific={"versions": [1, 9]}))) == [1]


def test_a_new_version_takes_over_and_no_request_fails(serve, line, export_line, tmp_path):
    base = tmp_path / "m"
    shutil.copytree(line / "00000123", base / "1")
    two = export_line(tmp_path / "two", offset=20.0)
    client = serve(model_base_path=str(base), file_system_poll_wait_seconds=0.1)
    answers, failures, stop = [], [], threading.Event()

    def ask():
        while not stop.is_set():
            try:
                answers.append(predict(client))
            except grpc.RpcError as e:
                failures.append(e)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    put(two, base / "2")
    until(lambda: statuses(client).get(1) == "END")
    until(lambda: answers[-1] == (21.0, 2))
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert set(answers) == {(3.0, 1), (21.0, 2)}
    assert statuses(client) == {2: "AVAILABLE", 1: "END"}


def test_a_corrupt_version_leaves_the_old_one_serving(serve, line, tmp_path):
    base = tmp_path / "m"
    shutil.copytree(line / "00000123", base / "1")
    client = serve(model_base_path=str(base), file_system_poll_wait_seconds=0.1)
    (base / "2").mkdir()
    (base / "2" / "saved_model.pb").write_bytes(b"garbage")
    until(lambda: statuses(client).get(2) == "END")
    assert predict(client) == (3.0, 1)
    with urllib.request.urlopen(client.url + "/v1/models/default/versions/2") as answer:
        assert b'"error_code": "OK"' not in answer.read()


def test_several_models_policies_and_labels_by_file(serve, line, tmp_path):
    config = tmp_path / "models.config"
    text = """model_config_list {{ config {{ name: "a" base_path: "{0}" model_platform: "tensorflow"
        version_labels {{ key: "stable" value: 123 }} }} {1} }}"""
    config.write_text(text.format(line, ""))
    client = serve(model_config_file=str(config), model_config_file_poll_wait_seconds=1)
    with urllib.request.urlopen(client.url + "/v1/models/a/labels/stable:predict", b'{"instances": [[2.0]]}') as answer:
        assert b"3.0" in answer.read()
    config.write_text(text.format(line, f'config {{ name: "b" base_path: "{line}" model_platform: "tensorflow" }}'))
    until(lambda: "b" in client.server.catalog.manager.names() and client.server.catalog.manager.is_available("b", 123))
    assert predict(client, name="b") == (3.0, 123)


def test_a_label_for_a_version_that_is_not_there(serve, line, tmp_path):
    config = tmp_path / "models.config"
    config.write_text(f"""model_config_list {{ config {{ name: "a" base_path: "{line}" model_platform: "tensorflow"
        version_labels {{ key: "new" value: 9 }} }} }}""")
    with pytest.raises(FailedPreconditionError, match="Request to assign label to version 9 of model a, which is not currently available"):
        serve(model_config_file=str(config))
    serve(model_config_file=str(config), allow_version_labels_for_unavailable_models=True)


def test_all_models_that_fail_are_named(serve, tmp_path):
    (tmp_path / "1").mkdir()
    with pytest.raises(FailedPreconditionError) as caught:
        serve(model_base_path=str(tmp_path), model_name="m")
    assert caught.value.message.startswith(
        "1 servable(s) did not become available: {{name: m version: 1} due to error: Not found: Specified file path does not appear to"
    )
    assert caught.value.message.endswith("}, }")


def warmup_file(folder, *logs):
    (folder / "assets.extra").mkdir()
    with tf.io.TFRecordWriter(str(folder / "assets.extra" / "tf_serving_warmup_requests")) as writer:
        for log in logs:
            writer.write(log.SerializeToString())


def predict_log(signature):
    log = prediction_log_pb2.PredictionLog()
    log.predict_log.request.model_spec.signature_name = signature
    log.predict_log.request.inputs["x"].CopyFrom(tf.make_tensor_proto(np.array([[1.0]], np.float32)))
    return log


def test_warm_up_makes_the_plans(serve, line, tmp_path):
    shutil.copytree(line / "00000123", tmp_path / "1")
    warmup_file(tmp_path / "1", predict_log("named"), predict_log("serving_default"))
    client = serve(model_base_path=str(tmp_path))
    version = client.server.catalog.manager.acquire("default")
    assert len(version.servable._plans) == 2
    version.leave()


def test_a_warm_up_that_fails_fails_the_load(serve, line, tmp_path):
    shutil.copytree(line / "00000123", tmp_path / "1")
    warmup_file(tmp_path / "1", predict_log("no such signature"))
    with pytest.raises(FailedPreconditionError, match='Serving signature key "no such signature" not found.'):
        serve(model_base_path=str(tmp_path))
    serve(model_base_path=str(tmp_path), enable_model_warmup=False)


def test_batching_joins_requests(serve, line, tmp_path):
    parameters = tmp_path / "batching.config"
    parameters.write_text("max_batch_size { value: 4 } batch_timeout_micros { value: 100000 } num_batch_threads { value: 1 }")
    client = serve(model_base_path=str(line), enable_batching=True, batching_parameters_file=str(parameters))
    answers = {}
    threads = [threading.Thread(target=lambda x=x: answers.update({x: predict(client, x)[0]})) for x in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {x: x / 2 + 2 for x in range(8)}


class Greeting(Servable):
    """A servable of a user's own: texts by name, from a file."""

    def __init__(self, greetings):
        self.greetings = greetings

    def predict(self, request):
        response = predict_pb2.PredictResponse()
        names = tf.make_ndarray(request.inputs["name"])
        response.outputs["greeting"].CopyFrom(tf.make_tensor_proto([self.greetings + b" " + n for n in names.tolist()]))
        return response

    @property
    def signatures(self):
        told = tf.saved_model.build_signature_def(inputs={}, outputs={}, method_name="tensorflow/serving/predict")
        told.inputs["name"].dtype = tf.string.as_datatype_enum
        return {"serving_default": told}


class GreetingLoader(Loader):
    def __init__(self, folder):
        self.folder = folder

    def load(self):
        with open(f"{self.folder}/greeting.txt", "rb") as file:
            return Greeting(file.read())


def test_a_servable_of_a_users_own(serve, tmp_path):
    (tmp_path / "greet" / "5").mkdir(parents=True)
    (tmp_path / "greet" / "5" / "greeting.txt").write_text("hello")
    config = model_server_config_pb2.ModelServerConfig()
    config.model_config_list.config.add(name="greet", base_path=str(tmp_path / "greet"), model_platform="greeting")
    (tmp_path / "models.config").write_text(str(config))
    client = serve(platforms={"greeting": GreetingLoader}, model_config_file=str(tmp_path / "models.config"))
    request = predict_pb2.PredictRequest()
    request.model_spec.name = "greet"
    request.inputs["name"].CopyFrom(tf.make_tensor_proto(["Ada"]))
    response = client.prediction.Predict(request, timeout=300)
    assert list(response.outputs["greeting"].string_val) == [b"hello Ada"]
    assert response.model_spec.version.value == 5
    with urllib.request.urlopen(client.url + "/v1/models/greet:predict", b'{"instances": ["Bo"]}') as answer:
        assert b'["hello Bo"]' in answer.read()
    with pytest.raises(grpc.RpcError) as caught:
        client.session.SessionRun(session_service_pb2.SessionRunRequest(model_spec=request.model_spec), timeout=300)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_metrics(serve, line, tmp_path):
    monitoring = tmp_path / "monitoring.config"
    monitoring.write_text('prometheus_config { enable: true, path: "/metrics" }')
    client = serve(model_base_path=str(line), model_name="measured", monitoring_config_file=str(monitoring))
    predict(client, name="measured")
    with urllib.request.urlopen(client.url + "/metrics") as answer:
        text = answer.read().decode()
    assert "# TYPE :tensorflow:serving:request_count counter" in text
    assert ':tensorflow:serving:request_count{model_name="measured",status="OK"} 1' in text
    assert ':tensorflow:serving:request_latency_count{model_name="measured",API="Predict",entrypoint="GRPC"} 1' in text
    assert ':tensorflow:serving:runtime_latency_bucket{model_name="measured",API="Predict",runtime="TF1",le="+Inf"} 1' in text
    assert f':tensorflow:cc:saved_model:load_attempt_count{{model_path="{line}/00000123",status="success"}}' in text
