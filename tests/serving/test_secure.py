"""A gRPC port behind a certificate, as the SSLConfig file asks for."""

import shutil
import subprocess

import grpc
import pytest
from google.protobuf import text_format

from everflow.proto import predict_pb2, prediction_service_pb2_grpc, ssl_config_pb2
from everflow.serving.flags import Options
from everflow.serving.server import serving

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl to make a certificate with")


@pytest.fixture
def certificate(tmp_path):
    """(key, certificate) of localhost."""
    key, cert = tmp_path / "key", tmp_path / "cert"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(cert)]
    subprocess.run(command, check=True, capture_output=True)
    return key.read_text(), cert.read_text()


@pytest.mark.parametrize("client_verify", [False, True])
def test_clients_need_the_certificate(line, certificate, tmp_path, client_verify):
    key, cert = certificate
    told = ssl_config_pb2.SSLConfig(server_key=key, server_cert=cert, custom_ca=cert if client_verify else "", client_verify=client_verify)
    (tmp_path / "ssl").write_text(text_format.MessageToString(told))
    request = predict_pb2.PredictRequest()
    request.model_spec.name = "default"
    request.inputs["x"].dtype = 1
    request.inputs["x"].tensor_shape.dim.add(size=1)
    request.inputs["x"].tensor_shape.dim.add(size=1)
    request.inputs["x"].float_val.append(4.0)
    options = Options(port=-1, host="localhost", model_base_path=str(line), ssl_config_file=str(tmp_path / "ssl"))
    with serving(options) as running:
        address = f"localhost:{running.port}"
        own = (key.encode(), cert.encode()) if client_verify else (None, None)
        with grpc.secure_channel(address, grpc.ssl_channel_credentials(cert.encode(), *own)) as channel:
            answer = prediction_service_pb2_grpc.PredictionServiceStub(channel).Predict(request, timeout=300)
            assert list(answer.outputs["y"].float_val) == [4.0]
        refused = [grpc.insecure_channel(address)]
        if client_verify:
            refused.append(grpc.secure_channel(address, grpc.ssl_channel_credentials(cert.encode())))
        for channel in refused:
            with channel, pytest.raises(grpc.RpcError, match="UNAVAILABLE"):
                prediction_service_pb2_grpc.PredictionServiceStub(channel).Predict(request, timeout=300)
