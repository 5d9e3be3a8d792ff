"""Everything at once, for long: `python benchmarks/serving_soak.py [SECONDS] [--bad N]`.

A server under mixed load (gRPC and REST) while a new version of its model appears every five seconds, other models are added and
removed, and clients misbehave: connections that say nothing, garbage, bodies that are malformed or far too large, readers that do not
read. It must answer every good request, and its memory must stay what it was. Exit status 0 where it did.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import logging
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import grpc
import numpy as np

import everflow as tf
from everflow.platform.ports import free_ports
from everflow.proto import model_management_pb2, model_service_pb2_grpc, predict_pb2, prediction_service_pb2_grpc

# The first part of the run, after which memory should not grow: plans are made, pools are filled.
WARMING = 0.2
MOST_GROWTH = 50 << 20


def export(folder: pathlib.Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 1], "x")
        y = tf.add(x * tf.get_variable("a", initializer=0.5), 2.0, name="y")
        tf.get_variable("weight", [256, 1024])
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(folder), {"x": x}, {"y": y})


def memory(pid: int) -> int:
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) << 10


class Soak:
    """The clients, and what they saw."""

    def __init__(self, port: int, rest: int, base: pathlib.Path, model: pathlib.Path, end: float) -> None:
        self.port, self.rest, self.base, self.model, self.end = port, rest, base, model, end
        self.good, self.bad = 0, 0
        self.failures: list[str] = []
        self.versions: set[int] = set()

    def going(self) -> bool:
        return time.monotonic() < self.end

    async def grpc_client(self) -> None:
        request = predict_pb2.PredictRequest()
        request.model_spec.name = "m"
        request.inputs["x"].CopyFrom(tf.make_tensor_proto(np.array([[2.0]], np.float32)))
        async with grpc.aio.insecure_channel(f"localhost:{self.port}") as channel:
            stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
            while self.going():
                try:
                    answer = await stub.Predict(request, timeout=60)
                    if list(answer.outputs["y"].float_val) != [3.0]:
                        self.failures.append(f"gRPC answered {answer}")
                    self.versions.add(answer.model_spec.version.value)
                    self.good += 1
                except grpc.RpcError as e:
                    self.failures.append(f"gRPC {e.code()}: {e.details()}")
                await asyncio.sleep(0.005)

    async def rest_client(self) -> None:
        body = b'{"instances": [[2.0]]}'
        head = b"POST /v1/models/m:predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
        writer: asyncio.StreamWriter | None = None
        while self.going():
            try:
                if writer is None:
                    reader, writer = await asyncio.open_connection("localhost", self.rest)
                writer.write(head + body)
                answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)
                size = next(int(line.split(b":")[1]) for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length"))
                text = await asyncio.wait_for(reader.readexactly(size), 60)
                if b"200 OK" not in answer or b"[[3.0]]" not in text:
                    self.failures.append(f"REST answered {answer!r} {text!r}")
                self.good += 1
            except Exception as e:
                self.failures.append(f"REST {type(e).__name__}: {e}")
                writer = None
            await asyncio.sleep(0.005)

    async def misbehaving(self, kind: int) -> None:
        chance = random.Random(kind)
        while self.going():
            try:
                port = self.port if chance.random() < 0.4 else self.rest
                reader, writer = await asyncio.wait_for(asyncio.open_connection("localhost", port), 10)
                await asyncio.wait_for(self._misbehave(kind % 5, reader, writer, chance), 20)
                writer.transport.abort()
            except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError):
                pass
            self.bad += 1
            await asyncio.sleep(chance.random() * 0.5)

    async def _misbehave(self, kind: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, chance: random.Random) -> None:
        head = b"POST /v1/models/m:predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
        if kind == 0:
            await asyncio.sleep(chance.random() * 5)
        elif kind == 1:
            writer.write(chance.randbytes(2000))
            await asyncio.sleep(0.2)
        elif kind == 2:
            body = chance.choice((b"{", b"[" * 10_000, b'{"instances": "' + b"x" * 100_000, b'{"instances": [[1e999, {}]]}', b""))
            writer.write(head % len(body) + body)
            await reader.read(1000)
        elif kind == 3:
            writer.write(head % (1 << 40))
            for _ in range(20):
                writer.write(b" " * (1 << 20))
                await writer.drain()
        else:
            body = b'{"instances": [' + b",".join([b"[1.5]"] * 5_000) + b"]}"
            for _ in range(3):
                writer.write(head % len(body) + body)
            await asyncio.sleep(2)

    async def versions_appear(self) -> None:
        for number in itertools.count(2):
            await asyncio.sleep(5)
            if not self.going():
                return
            await asyncio.to_thread(self._put, number)

    def _put(self, number: int) -> None:
        beside = self.base.parent / f"new-{number}"
        shutil.copytree(self.model, beside)
        beside.rename(self.base / str(number))
        for old in self.base.iterdir():
            if int(old.name) < number - 2:
                shutil.rmtree(old)

    async def models_come_and_go(self) -> None:
        async with grpc.aio.insecure_channel(f"localhost:{self.port}") as channel:
            stub = model_service_pb2_grpc.ModelServiceStub(channel)
            for number in itertools.count():
                await asyncio.sleep(3)
                if not self.going():
                    return
                request = model_management_pb2.ReloadConfigRequest()
                configs = request.config.model_config_list.config
                configs.add(name="m", base_path=str(self.base), model_platform="tensorflow")
                if number % 2 == 0:
                    configs.add(name=f"other{number % 6}", base_path=str(self.model.parent), model_platform="tensorflow")
                try:
                    await stub.HandleReloadConfigRequest(request, timeout=120)
                except grpc.RpcError as e:
                    self.failures.append(f"reload {e.code()}: {e.details()}")

    async def run(self, bad: int) -> None:
        await asyncio.gather(
            *(self.grpc_client() for _ in range(6)), *(self.rest_client() for _ in range(6)),
            *(self.misbehaving(i) for i in range(bad)), self.versions_appear(), self.models_come_and_go(),
        )  # fmt: skip


def main(seconds: float, bad: int) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        base, model = pathlib.Path(scratch, "m"), pathlib.Path(scratch, "source", "1")
        export(model)
        base.mkdir()
        shutil.copytree(model, base / "1")
        port, rest = free_ports(2)
        command = [sys.executable, "-m", "everflow.serving.server", f"--port={port}", f"--rest_api_port={rest}", "--model_name=m",
                   f"--model_base_path={base}"]  # fmt: skip
        with open(os.path.join(scratch, "log"), "w+") as log:
            server = subprocess.Popen(command, stdout=log, stderr=log)
            while "Exporting HTTP/REST API" not in pathlib.Path(log.name).read_text():
                if server.poll() is not None:
                    raise SystemExit(pathlib.Path(log.name).read_text())
                time.sleep(0.2)
            soak = Soak(port, rest, base, model, time.monotonic() + seconds)
            samples: list[int] = []

            async def watch() -> None:
                while soak.going():
                    await asyncio.sleep(min(1.0, seconds / 20))
                    samples.append(memory(server.pid))

            async def everything() -> None:
                await asyncio.gather(soak.run(bad), watch())

            try:
                asyncio.run(everything())
                server.send_signal(signal.SIGTERM)
                status = server.wait(60)
            finally:
                server.kill()
            text = pathlib.Path(log.name).read_text()
    warm = samples[int(len(samples) * WARMING) :]
    third = max(1, len(warm) // 3)
    first, last = sorted(warm[:third])[third // 2], sorted(warm[-third:])[third // 2]
    seen = f"versions {min(soak.versions)} to {max(soak.versions)}"
    print(f"{soak.good} good requests, {len(soak.failures)} failed; {soak.bad} misbehaved; {seen}")
    print(f"memory: {first >> 20} MB after warm-up, {last >> 20} MB at the end, most {max(samples) >> 20} MB; exit status {status}")
    for failure in soak.failures[:10]:
        print("  " + failure[:300])
    if "Traceback" in text:
        print(text[text.index("Traceback") :][:3000])
    return int(bool(soak.failures) or last - first > MOST_GROWTH or status != 0)


if __name__ == "__main__":
    # Clients that misbehave are answered by closed connections.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", type=float, nargs="?", default=600)
    parser.add_argument("--bad", type=int, default=50, metavar="N", help="how many clients misbehave")
    told = parser.parse_args()
    sys.exit(main(told.seconds, told.bad))
