"""How fast the model server is: `python benchmarks/serving.py [--peer PYTHON] [--seconds N]`.

Server and client share the machine, one run after the other:
a. a model as small as half_plus_two, 16 gRPC clients;
b. a convolutional network that reads digits, with batching and without;
c. the same network in a minimal grpc.aio server on the TensorFlow of PYTHON (with tensorflow-serving-api), one request a run;
d. the small model over REST.

Each line of the table: requests a second, and the milliseconds in which half and 99 of 100 requests were answered.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from everflow.platform.ports import free_ports

CLIENTS = 16
# Batches come of many requests at once.
MANY = 64
BATCHING = """
max_batch_size { value: 32 }
batch_timeout_micros { value: 0 }
max_enqueued_batches { value: 100 }
num_batch_threads { value: 1 }
"""
METHOD = "/tensorflow.serving.PredictionService/Predict"

PEER = """
import asyncio, sys, grpc, numpy as np, tensorflow as tf
from tensorflow_serving.apis import predict_pb2

folder, port = sys.argv[1:]
model = tf.saved_model.load(folder)
call = model.signatures["serving_default"]
(name,) = call.structured_input_signature[1]

async def predict(request, context):
    found = call(**{name: tf.constant(tf.make_ndarray(request.inputs["x"]))})
    response = predict_pb2.PredictResponse()
    for key, value in found.items():
        response.outputs[key].CopyFrom(tf.make_tensor_proto(value.numpy()))
    return response

async def main():
    server = grpc.aio.server()
    takes, gives = predict_pb2.PredictRequest.FromString, predict_pb2.PredictResponse.SerializeToString
    methods = {"Predict": grpc.unary_unary_rpc_method_handler(predict, takes, gives)}
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("tensorflow.serving.PredictionService", methods)])
    server.add_insecure_port("localhost:" + port)
    await server.start()
    print("ready", flush=True)
    await server.wait_for_termination()

asyncio.run(main())
"""


def export(folder: pathlib.Path, network: bool) -> None:
    """A SavedModel: x / 2 + 2, or a network of two convolutions and two layers."""
    import everflow as tf

    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        if network:
            x = tf.placeholder(tf.float32, [None, 784], "x")
            h = tf.reshape(x, [-1, 28, 28, 1])
            for channels in (32, 64):
                h = tf.layers.max_pooling2d(tf.layers.conv2d(h, channels, 5, padding="same", activation=tf.nn.relu), 2, 2)
            h = tf.layers.dense(tf.layers.flatten(h), 1024, tf.nn.relu)
            y = tf.nn.softmax(tf.layers.dense(h, 10), name="y")
        else:
            x = tf.placeholder(tf.float32, [None, 1], "x")
            y = tf.add(tf.get_variable("a", initializer=0.5) * x, tf.get_variable("b", initializer=2.0), name="y")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(folder), {"x": x}, {"y": y})


def request_bytes(network: bool) -> bytes:
    import numpy as np

    import everflow as tf
    from everflow.proto import predict_pb2

    request = predict_pb2.PredictRequest()
    request.model_spec.name = "m"
    value = np.random.RandomState(0).rand(1, 784).astype(np.float32) if network else np.array([[2.0]], np.float32)
    request.inputs["x"].CopyFrom(tf.make_tensor_proto(value))
    return request.SerializeToString()


class Server:
    """A program that serves, from when it says so until the block ends."""

    def __init__(self, command: list[str], says: str) -> None:
        self.command, self.says = command, says

    def __enter__(self) -> Server:
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines = []
        for line in self.process.stdout:  # type: ignore[union-attr]
            lines.append(line)
            if self.says in line:
                return self
        raise SystemExit("the server did not start:\n" + "".join(lines))

    def __exit__(self, *exc: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def ours(base: pathlib.Path, port: int, rest: int, *flags: str) -> Server:
    command = [sys.executable, "-m", "everflow.serving.server", f"--port={port}", f"--rest_api_port={rest}", "--model_name=m",
               f"--model_base_path={base}", *flags]  # fmt: skip
    return Server(command, "Exporting HTTP/REST API")


async def grpc_load(port: int, body: bytes, seconds: float, clients: int) -> list[float]:
    import grpc

    times: list[float] = []
    end = time.perf_counter() + seconds

    async def client(i: int) -> None:
        # A connection for each client, as from so many machines.
        async with grpc.aio.insecure_channel(f"localhost:{port}", options=[("grpc.use_local_subchannel_pool", 1), ("i", i)]) as channel:
            call = channel.unary_unary(METHOD)
            while (start := time.perf_counter()) < end:
                await call(body)
                times.append(time.perf_counter() - start)

    await asyncio.gather(*(client(i) for i in range(clients)))
    return times


async def rest_load(port: int, body: bytes, seconds: float, clients: int) -> list[float]:
    times: list[float] = []
    end = time.perf_counter() + seconds
    head = b"POST /v1/models/m:predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"

    async def client() -> None:
        reader, writer = await asyncio.open_connection("localhost", port)
        while (start := time.perf_counter()) < end:
            writer.write(head % len(body) + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            if not answer.startswith(b"HTTP/1.1 200"):
                raise SystemExit(answer.decode())
            size = next(int(line.split(b":")[1]) for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length"))
            await reader.readexactly(size)
            times.append(time.perf_counter() - start)
        writer.close()

    await asyncio.gather(*(client() for _ in range(clients)))
    return times


def load(kind: str, port: int, body: bytes, seconds: float, clients: int) -> dict[str, float]:
    """What a client process measures, after a second to warm up."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(body)
        file.flush()
        command = [sys.executable, __file__, "--load", kind, str(port), file.name, str(seconds), str(clients)]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def measure(kind: str, port: str, file: str, seconds: str, clients: str) -> None:
    import uvloop

    # The client shares the machine: what it takes is not there for the server.
    uvloop.install()
    run = {"grpc": grpc_load, "rest": rest_load}[kind]
    body = pathlib.Path(file).read_bytes()
    asyncio.run(run(int(port), body, 1.5, int(clients)))
    start = time.perf_counter()
    times = sorted(asyncio.run(run(int(port), body, float(seconds), int(clients))))
    rate = len(times) / (time.perf_counter() - start)
    print(json.dumps({"rate": rate, "median": times[len(times) // 2] * 1e3, "p99": times[int(len(times) * 0.99)] * 1e3}))


def shown(what: str, found: dict[str, float]) -> None:
    print(f"{what:<56}{found['rate']:>8.0f} /s{found['median']:>9.2f} ms{found['p99']:>9.2f} ms", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", metavar="PYTHON", help="a Python with TensorFlow 2 and tensorflow-serving-api")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--only", default="abcd")
    parser.add_argument("--load", nargs=5, help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.load:
        measure(*told.load)
        return
    os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count() or 1))
    with tempfile.TemporaryDirectory() as scratch:
        small, network = pathlib.Path(scratch, "small"), pathlib.Path(scratch, "network")
        export(small / "1", False)
        export(network / "1", True)
        one, image = request_bytes(False), request_bytes(True)
        batching = pathlib.Path(scratch, "batching.config")
        batching.write_text(BATCHING)
        port, rest = free_ports(2)
        print(f"{'':<56}{'rate':>11}{'half':>12}{'99 %':>12}")
        if "a" in told.only or "d" in told.only:
            with ours(small, port, rest):
                shown(f"a. half_plus_two, gRPC, {CLIENTS} clients", load("grpc", port, one, told.seconds, CLIENTS))
                shown(f"d. half_plus_two, REST, {CLIENTS} clients", load("rest", rest, b'{"instances": [[2.0]]}', told.seconds, CLIENTS))
        if "b" in told.only:
            with ours(network, port, rest):
                shown(f"b. network, gRPC, {CLIENTS} clients", load("grpc", port, image, told.seconds, CLIENTS))
                shown(f"b. network, gRPC, {MANY} clients", load("grpc", port, image, told.seconds, MANY))
            with ours(network, port, rest, "--enable_batching", f"--batching_parameters_file={batching}"):
                shown(f"b. network, gRPC, {CLIENTS} clients, batching", load("grpc", port, image, told.seconds, CLIENTS))
                shown(f"b. network, gRPC, {MANY} clients, batching", load("grpc", port, image, told.seconds, MANY))
        if "c" in told.only and told.peer:
            with Server([told.peer, "-c", PEER, str(network / "1"), str(port)], "ready"):
                shown(f"c. network, TensorFlow in grpc.aio, {CLIENTS} clients", load("grpc", port, image, told.seconds, CLIENTS))
            with Server([told.peer, "-c", PEER, str(small / "1"), str(port)], "ready"):
                shown(f"c. half_plus_two, TensorFlow in grpc.aio, {CLIENTS} clients", load("grpc", port, one, told.seconds, CLIENTS))


if __name__ == "__main__":
    main()
