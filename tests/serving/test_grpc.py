"""The gRPC services: answers, and the errors of the original."""

import grpc
import numpy as np
import pytest

import everflow as tf
from everflow.proto import (
    classification_pb2,
    get_model_metadata_pb2,
    get_model_status_pb2,
    inference_pb2,
    model_management_pb2,
    predict_pb2,
    regression_pb2,
    session_service_pb2,
)


def predicting(values=None, shape=None, name="default", signature="", outputs=()):
    request = predict_pb2.PredictRequest(output_filter=outputs)
    request.model_spec.name = name
    request.model_spec.signature_name = signature
    if values is not None:
        request.inputs["x"].CopyFrom(tf.make_tensor_proto(np.array(values, np.float32), shape=shape))
    return request


def refused(call, request, code, message):
    with pytest.raises(grpc.RpcError) as caught:
        call(request, timeout=300)
    assert caught.value.code() is getattr(grpc.StatusCode, code)
    assert message in caught.value.details()


def test_predict(client):
    response = client.prediction.Predict(predicting([[2.0], [3.0]]))
    assert list(response.outputs["y"].float_val) == [3.0, 3.5]
    assert (response.model_spec.name, response.model_spec.signature_name, response.model_spec.version.value) == (
        "default", "serving_default", 123
    )  # fmt: skip


def test_feeds_may_have_other_shapes_than_placeholders(client):
    assert client.prediction.Predict(predicting([2.0])).outputs["y"].tensor_shape.dim[0].size == 1
    assert list(client.prediction.Predict(predicting([[[2.0, 4.0]]])).outputs["y"].float_val) == [3.0, 4.0]


def test_large_tensors_go_both_ways(client):
    values = np.arange(100_000, dtype=np.float32).reshape(-1, 1)
    request = predicting()
    request.inputs["x"].dtype = 1
    request.inputs["x"].tensor_shape.CopyFrom(tf.TensorShape(values.shape).as_proto())
    request.inputs["x"].float_val.extend(values.ravel().tolist())
    found = tf.make_ndarray(client.prediction.Predict(request).outputs["y"])
    np.testing.assert_array_equal(found, values * 0.5 + 2)


def test_outputs_can_be_chosen(client):
    assert set(client.prediction.Predict(predicting([[1.0]], signature="named", outputs=["label"])).outputs) == {"label"}


@pytest.mark.parametrize(
    "request_, code, message",
    [
        (predict_pb2.PredictRequest(), "INVALID_ARGUMENT", "Missing ModelSpec"),
        (predicting([1.0], name=""), "INVALID_ARGUMENT", "ModelSpec has no name specified."),
        (predicting([1.0], name="x"), "NOT_FOUND", "Servable not found for request: Latest(x)"),
        (predicting([1.0], signature="s"), "FAILED_PRECONDITION", 'Serving signature key "s" not found.'),
        (
            predicting(),
            "INVALID_ARGUMENT",
            "input size does not match signature: 0!=1 len({}) != len({x}). Sent extra: {}. Missing but required: {x}.",
        ),
        (
            predicting([1.0], outputs=["n"]),
            "INVALID_ARGUMENT",
            "output tensor alias not found in signature: n Outputs expected to be in the set {y}.",
        ),
        (predicting([1.0], outputs=["y", "y"]), "INVALID_ARGUMENT", "duplicate output tensor alias: y"),
    ],
)
def test_predict_refuses(client, request_, code, message):
    refused(client.prediction.Predict, request_, code, message)


def test_versions_and_labels_that_are_not_there(client):
    request = predicting([1.0])
    request.model_spec.version.value = 9
    refused(client.prediction.Predict, request, "NOT_FOUND", "Servable not found for request: Specific(default, 9)")
    request.model_spec.version_label = "l"
    refused(client.prediction.Predict, request, "INVALID_ARGUMENT", "Unrecognized servable version label: l")


def test_tensors_that_contradict_themselves(client):
    request = predicting([1.0, 2.0])
    request.inputs["x"].tensor_shape.dim[0].size = 3
    refused(client.prediction.Predict, request, "INVALID_ARGUMENT", "tensor parsing error: x")
    request.inputs["x"].CopyFrom(tf.make_tensor_proto(["a"]))
    refused(client.prediction.Predict, request, "INVALID_ARGUMENT", "Expects arg[0] to be float but string is provided")


def example(x):
    return tf.train.Example(features=tf.train.Features(feature={"x": tf.train.Feature(float_list=tf.train.FloatList(value=[x]))}))


def test_classify(client):
    request = classification_pb2.ClassificationRequest()
    request.model_spec.name = "default"
    request.model_spec.signature_name = "classify"
    request.input.example_list.examples.extend([example(2.0), example(4.0)])
    result = client.prediction.Classify(request).result
    assert [[(c.label, c.score) for c in one.classes] for one in result.classifications] == [[("3.0", 3.0)], [("4.0", 4.0)]]
    request.model_spec.signature_name = "s"
    refused(client.prediction.Classify, request, "INVALID_ARGUMENT", "No signature was found with the name: s")
    request.model_spec.signature_name = "regress"
    refused(client.prediction.Classify, request, "INVALID_ARGUMENT", "Expected classification signature method_name to be")


def test_regress_with_what_examples_have_in_common(client):
    request = regression_pb2.RegressionRequest()
    request.model_spec.name = "default"
    request.model_spec.signature_name = "regress"
    held = request.input.example_list_with_context
    held.context.CopyFrom(example(6.0))
    held.examples.extend([tf.train.Example(), example(2.0)])
    assert [r.value for r in client.prediction.Regress(request).result.regressions] == [5.0, 3.0]
    request.input.Clear()
    refused(client.prediction.Regress, request, "INVALID_ARGUMENT", "Input is empty.")


def multi(*tasks):
    request = inference_pb2.MultiInferenceRequest()
    for name, signature, method in tasks:
        task = request.tasks.add(method_name=method)
        task.model_spec.name = name
        task.model_spec.signature_name = signature
    request.input.example_list.examples.extend([example(2.0)])
    return request


def test_several_inferences_at_once(client):
    classify, regress = "tensorflow/serving/classify", "tensorflow/serving/regress"
    found = client.prediction.MultiInference(multi(("default", "regress", regress), ("default", "classify", classify))).results
    assert found[0].regression_result.regressions[0].value == 3.0
    assert found[1].classification_result.classifications[0].classes[0].label == "3.0"
    assert found[1].model_spec.version.value == 123
    call = client.prediction.MultiInference
    refused(call, multi(("default", "regress", regress), ("b", "regress", regress)), "INVALID_ARGUMENT", "must access the same model name")
    refused(call, multi(("default", "regress", regress), ("default", "regress", regress)), "INVALID_ARGUMENT", "Duplicate evaluation")
    refused(call, multi(("default", "named", "tensorflow/serving/predict")), "UNIMPLEMENTED", "Unsupported signature method_name")


def test_status(client):
    request = get_model_status_pb2.GetModelStatusRequest()
    request.model_spec.name = "default"
    (status,) = client.model.GetModelStatus(request).model_version_status
    assert (status.version, status.state, status.status.error_code) == (123, 30, 0)
    request.model_spec.version.value = 9
    refused(client.model.GetModelStatus, request, "NOT_FOUND", "Could not find version 9 of model default")
    request = get_model_status_pb2.GetModelStatusRequest()
    request.model_spec.name = "x"
    refused(client.model.GetModelStatus, request, "NOT_FOUND", "Could not find any versions of model x")


def test_metadata(client):
    request = get_model_metadata_pb2.GetModelMetadataRequest(metadata_field=["signature_def"])
    request.model_spec.name = "default"
    response = client.prediction.GetModelMetadata(request)
    told = get_model_metadata_pb2.SignatureDefMap()
    assert response.metadata["signature_def"].Unpack(told)
    assert told.signature_def["serving_default"].inputs["x"].name == "x:0"
    request.metadata_field[:] = ["other"]
    refused(client.prediction.GetModelMetadata, request, "INVALID_ARGUMENT", "Metadata field other is not supported")
    request.metadata_field[:] = []
    refused(client.prediction.GetModelMetadata, request, "INVALID_ARGUMENT", "must specify at least one metadata_field")


def test_session_run(client):
    request = session_service_pb2.SessionRunRequest(fetch=["y:0"])
    request.model_spec.name = "default"
    request.feed.add(name="x:0", tensor=tf.make_tensor_proto([[2.0]]))
    (found,) = client.session.SessionRun(request).tensor
    assert (found.name, list(found.tensor.float_val)) == ("y:0", [3.0])
    request.fetch[:] = ["nothing:0"]
    refused(client.session.SessionRun, request, "NOT_FOUND", "nothing:0")


def test_a_run_of_the_clients_own_reaches_no_files(client, tmp_path):
    request = session_service_pb2.SessionRunRequest(fetch=["save/control_dependency:0"])
    request.model_spec.name = "default"
    request.feed.add(name="save/Const:0", tensor=tf.make_tensor_proto(str(tmp_path / "stolen")))
    refused(client.session.SessionRun, request, "PERMISSION_DENIED", "A client may not run")
    assert not list(tmp_path.iterdir())


def test_reloading_refuses(client, line):
    def reload(*models):
        request = model_management_pb2.ReloadConfigRequest()
        for model in models:
            request.config.model_config_list.config.add(**{"model_platform": "tensorflow", "base_path": str(line), **model})
        return request

    call = client.model.HandleReloadConfigRequest
    refused(call, model_management_pb2.ReloadConfigRequest(), "INVALID_ARGUMENT", "Only ModelConfigList is currently supported")
    refused(call, reload({"name": "a"}, {"name": "a"}), "INVALID_ARGUMENT", "Illegal to list model a multiple times in config list")
    refused(call, reload({"name": "a", "base_path": "rel"}), "INVALID_ARGUMENT", "to have an absolute path or URI; got base_path()=rel")
    refused(call, reload({"name": "a", "model_platform": "p"}), "INVALID_ARGUMENT", "requests unsupported platform p")
    refused(
        call,
        reload({"name": "default", "version_labels": {"l": 9}}),
        "FAILED_PRECONDITION",
        "Request to assign label to version 9 of model default, which is not currently available for inference",
    )
    assert client.prediction.Predict(predicting([2.0])).outputs["y"].float_val[0] == 3.0


def test_models_and_labels_come_and_go(serve, line):
    client = serve(model_base_path=str(line))
    request = model_management_pb2.ReloadConfigRequest()
    model = request.config.model_config_list.config.add(name="other", base_path=str(line), model_platform="tensorflow")
    model.version_labels["stable"] = 123
    assert client.model.HandleReloadConfigRequest(request, timeout=300).status.error_code == 0
    labelled = predicting([2.0], name="other")
    labelled.model_spec.version_label = "stable"
    assert client.prediction.Predict(labelled).outputs["y"].float_val[0] == 3.0
    refused(client.prediction.Predict, predicting([2.0]), "NOT_FOUND", "Servable not found for request: Latest(default)")


def test_health_and_reflection(client):
    from grpc_health.v1 import health_pb2, health_pb2_grpc
    from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

    health = health_pb2_grpc.HealthStub(client.channel)
    for service in ("", "tensorflow.serving.PredictionService"):
        assert health.Check(health_pb2.HealthCheckRequest(service=service)).status == health_pb2.HealthCheckResponse.SERVING
    listing = reflection_pb2_grpc.ServerReflectionStub(client.channel).ServerReflectionInfo(
        iter([reflection_pb2.ServerReflectionRequest(list_services="")])
    )
    names = {service.name for service in next(listing).list_services_response.service}
    assert "tensorflow.serving.ModelService" in names
