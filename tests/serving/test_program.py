"""The program: flags, starting, stopping, dying, several processes."""

import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import urllib.request

import pytest

from everflow.cli import main as cli
from everflow.platform.ports import free_ports
from everflow.proto import model_management_pb2, model_server_config_pb2, predict_pb2
from everflow.serving import flags, server
from everflow.serving.flags import Options
from everflow.serving.servables import Loader, Servable
from everflow.serving.server import serving
from everflow.serving.workers import summed

ROOT = pathlib.Path(server.__file__).parent.parent.parent


class Program:
    """A server in a process of its own; its lines as they come."""

    def __init__(self, *arguments, module="everflow.serving.server"):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]), "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        self.lines = []

    def until(self, text, times=1):
        for line in self.process.stdout:
            self.lines.append(line)
            times -= text in line
            if not times:
                return self
        raise AssertionError("".join(self.lines))

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.lines += self.process.stdout.readlines()
        return self.process.wait(60)


@pytest.fixture
def program():
    started = []

    def start(*arguments, **options):
        started.append(Program(*arguments, **options))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
        one.process.wait()
        one.process.stdout.close()


def ask(port, model="default"):
    with urllib.request.urlopen(f"http://localhost:{port}/v1/models/{model}:predict", b'{"instances": [[2.0]]}', timeout=300) as answer:
        return json.loads(answer.read())


def files(folder):
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*")}


def test_flags_have_the_defaults_of_the_original():
    options = flags.parse([])
    assert (options.port, options.rest_api_port, options.rest_api_timeout_in_ms, options.model_name) == (8500, 0, 30000, "default")
    assert (options.max_num_load_retries, options.load_retry_interval_micros) == (5, 60_000_000)
    assert (options.file_system_poll_wait_seconds, options.saved_model_tags, options.enable_model_warmup) == (1, "serve", True)


def test_flags_are_written_as_for_the_original():
    options = flags.parse(["--port=1", "--enable_batching", "--enable_model_warmup=false", "--model_name", "m"])
    assert (options.port, options.enable_batching, options.enable_model_warmup, options.model_name) == (1, True, False, "m")
    assert flags.parse(options.as_arguments()).as_arguments() == options.as_arguments()


def test_an_unknown_flag_is_reported_and_passed_over():
    out = io.StringIO()
    assert flags.parse(["--bogus=1", "--port=5"], out).port == 5
    assert out.getvalue() == "unknown argument: --bogus=1\n"


def test_a_bad_value_is_refused(capsys):
    assert server.main(["--port=many"]) == 255
    assert "Couldn't interpret value many for flag port." in capsys.readouterr().out


def test_version(capsys):
    assert server.main(["--version"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "TensorFlow Library: 1.15.5"


@pytest.mark.parametrize("options, message", [
    ({}, "Both server_options.model_base_path and server_options.model_config_file are empty!"),
    ({"model_base_path": "/m", "rest_api_port": 8500}, "server_options.http_port cannot be same as grpc_port"),
    ({"model_base_path": "/m", "batching_parameters_file": "/b"}, "without setting server_options.enable_batching"),
    ({"model_base_path": "rel"}, "Expected model default to have an absolute path or URI; got base_path()=rel"),
    ({"model_config_file": "/no/such/file"}, "/no/such/file"),
])  # fmt: skip
def test_what_can_not_be_served(options, message, capsys):
    assert server.run(Options(**options)) == 255
    shown = capsys.readouterr().err
    assert shown.startswith("Failed to start server. Error: ")
    assert message in shown


def test_a_bad_configuration_file(tmp_path, capsys):
    (tmp_path / "bad").write_text("improperly formatted file")
    assert server.main([f"--model_config_file={tmp_path / 'bad'}"]) == 255
    shown = capsys.readouterr().err
    assert "Error parsing text-format tensorflow.serving.ModelServerConfig" in shown
    assert "Invalid argument: Invalid protobuf file" in shown


def test_it_stops_when_told_and_serves_again_after_it_was_killed(program, line):
    before = files(line)
    port, rest = free_ports(2)
    arguments = (f"--port={port}", f"--rest_api_port={rest}", f"--model_base_path={line}")
    first = program(*arguments).until("Exporting HTTP/REST API at:0.0.0.0")
    assert ask(rest) == {"predictions": [[3.0]]}
    first.end(signal.SIGKILL)
    second = program(*arguments).until("Exporting HTTP/REST API")
    assert ask(rest) == {"predictions": [[3.0]]}
    assert second.end() == 0
    assert files(line) == before


def test_it_waits_for_a_first_version_and_stops_meanwhile(program, tmp_path):
    waiting = program(f"--port={free_ports()[0]}", f"--model_base_path={tmp_path}").until(
        "No versions of servable default found under base path"
    )
    assert waiting.end() == 0


class Slow(Loader, Servable):
    def __init__(self, folder):
        self.begun = threading.Event()
        self.done = False

    def load(self):
        return self

    def predict(self, request):
        self.begun.set()
        time.sleep(0.5)
        self.done = True
        return predict_pb2.PredictResponse()


def test_what_runs_is_finished_before_the_end(tmp_path):
    import grpc

    from everflow.proto import prediction_service_pb2_grpc

    (tmp_path / "m" / "1").mkdir(parents=True)
    config = model_server_config_pb2.ModelServerConfig()
    config.model_config_list.config.add(name="m", base_path=str(tmp_path / "m"), model_platform="slow")
    (tmp_path / "models.config").write_text(str(config))
    with serving(Options(port=-1, host="localhost", model_config_file=str(tmp_path / "models.config")), {"slow": Slow}) as running:
        channel = grpc.insecure_channel(f"localhost:{running.port}")
        request = predict_pb2.PredictRequest()
        request.model_spec.name = "m"
        future = prediction_service_pb2_grpc.PredictionServiceStub(channel).Predict.future(request, timeout=300)
        held = running.catalog.manager.acquire("m")
        assert held.servable.begun.wait(300)
        slow = held.servable
        held.leave()
    assert slow.done
    assert future.result().model_spec.version.value == 1
    channel.close()


def test_workers_share_the_ports_and_what_they_are_told(program, line):
    import grpc

    from everflow.proto import model_service_pb2_grpc

    port, rest = free_ports(2)
    several = program(f"--port={port}", f"--rest_api_port={rest}", f"--model_base_path={line}", "--workers=2")
    several.until("Exporting HTTP/REST API", times=2)
    request = model_management_pb2.ReloadConfigRequest()
    request.config.model_config_list.config.add(name="other", base_path=str(line), model_platform="tensorflow")
    with grpc.insecure_channel(f"localhost:{port}") as channel:
        end = time.monotonic() + 300
        while True:
            try:
                model_service_pb2_grpc.ModelServiceStub(channel).HandleReloadConfigRequest(request, timeout=300)
                break
            except grpc.RpcError:
                assert time.monotonic() < end
    # New connections go to either process.
    for _ in range(20):
        assert ask(rest, "other") == {"predictions": [[3.0]]}
    assert several.end() == 0


def test_metrics_of_several_processes_are_summed():
    one = '# TYPE a counter\na{x="1"} 2\n# TYPE b histogram\nb_sum 1.5\n'
    two = '# TYPE a counter\na{x="1"} 3\na{x="2"} 1\n'
    assert summed([one, two]) == '# TYPE a counter\na{x="1"} 5\na{x="2"} 1\n# TYPE b histogram\nb_sum 1.5\n'


def test_serve_and_ask(program, line, capsys):
    port, rest = free_ports(2)
    arguments = ("serve", str(line / "00000123"), "--name", "half", "--port", str(port), "--rest-port", str(rest), "--host", "localhost")
    running = program(*arguments, module="everflow").until("console")
    assert "half (version 123)\n" in running.lines
    assert f"  REST     http://localhost:{rest}/v1/models/half:predict\n" in running.lines
    assert cli.main(["client", "predict", f"localhost:{rest}/half", '{"instances": [[2.0]]}']) == 0
    assert json.loads(capsys.readouterr().out) == {"predictions": [[3.0]]}
    assert cli.main(["client", "predict", f"localhost:{rest}/nobody", '{"instances": [1]}']) == 1
    assert "answered 404: Servable not found for request: Latest(nobody)" in capsys.readouterr().err
    assert running.end() == 0
    assert cli.main(["client", "status", f"localhost:{rest}/half"]) == 1
    assert "no answer from" in capsys.readouterr().err
