"""Hostile requests against the model server: `python benchmarks/serving_fuzz.py [COUNT] [SEED]`.

Good requests, gRPC messages and JSON bodies, are mutated (bytes changed, cut, doubled, joined; fields given odd values) and answered
in this process by the code that answers clients. Each must be answered or refused with an error of `tf.errors`; anything else is
reported and fails the run.
"""

from __future__ import annotations

import asyncio
import copy
import json
import pathlib
import random
import sys
import tempfile
import time

import numpy as np
from google.protobuf.message import DecodeError

import everflow as tf
from everflow import errors
from everflow.proto import predict_pb2, regression_pb2
from everflow.serving.flags import Options
from everflow.serving.rest import Rest
from everflow.serving.server import ModelServer

ODD = [b"NaN", b"-Infinity", b"1e999", b"-1", b"9" * 400, b"null", b"true", b"{}", b"[]", b'{"b64":"!"}', b'"\\ud800"', b"\x00", b"\xff",
       b"[[[[", b'"x":', b'"instances"', b'"inputs"', b'"signature_name"', b'"examples"', b"0.5e-400", b",", b"}"]  # fmt: skip


def mutated(body: bytes, others: list[bytes], chance: random.Random) -> bytes:
    data = bytearray(body)
    for _ in range(chance.choice((1, 1, 2, 3, 8))):
        at = chance.randrange(len(data) + 1)
        kind = chance.randrange(7)
        if kind == 0 and data:
            data[at % len(data)] = chance.randrange(256)
        elif kind == 1 and data:
            data[at % len(data)] ^= 1 << chance.randrange(8)
        elif kind == 2:
            del data[at : at + chance.randrange(1, 9)]
        elif kind == 3:
            data[at:at] = data[at : at + chance.randrange(1, 40)]
        elif kind == 4:
            data[at:at] = chance.choice(ODD)
        elif kind == 5:
            other = chance.choice(others)
            data[at:] = other[chance.randrange(len(other) + 1) :]
        else:
            data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 9)))
    return bytes(data)


VALUES = [1, -1, 0, 2.5, 1e308, 10**30, "a", "", None, True, [], {}, [[1.0]], [1.0, "a"], [[1.0], [2.0, 3.0]], {"b64": "YQ=="},
          {"b64": "!"},
          {"b64": 1}, {"x": 1.0}, {"text": "a"}, [[[]]], [None], "two", "regress", "\u00e9"]  # fmt: skip


def odd_json(body: bytes, chance: random.Random) -> bytes:
    """Puts other values, and other names, in the places of some that a body has."""
    value = json.loads(body)
    for _ in range(chance.randrange(1, 3)):
        at, place = value, None
        while isinstance(at, (dict, list)) and at and chance.random() < 0.85:
            key = chance.choice(list(at) if isinstance(at, dict) else range(len(at)))
            place, at = (at, key), at[key]
        if place is None:
            continue
        holder, key = place
        if isinstance(holder, dict) and chance.random() < 0.15:
            holder[chance.choice(("x", "text", "instances", "inputs", "other"))] = holder.pop(key)
        else:
            holder[key] = copy.deepcopy(chance.choice(VALUES))
    return json.dumps(value).encode()


def odd_tensor(proto, chance: random.Random) -> None:
    """Gives the fields of a TensorProto values that do not belong together."""
    for _ in range(chance.randrange(1, 4)):
        kind = chance.randrange(6)
        if kind == 0:
            proto.dtype = chance.choice((0, 1, 2, 3, 7, 9, 10, 14, 19, 20, 21, 23, 101, 999))
        elif kind == 1:
            proto.tensor_shape.dim.add().size = chance.choice((-1, 0, 1, 2, 3, 2**20, 2**31, 2**62, -(2**62)))
        elif kind == 2:
            del proto.tensor_shape.dim[:]
        elif kind == 3:
            proto.tensor_content = bytes(chance.randrange(256) for _ in range(chance.randrange(20)))
        elif kind == 4:
            proto.float_val.extend([float("nan")] * chance.randrange(40))
        else:
            proto.string_val.append(b"\xff" * chance.randrange(5))


def export(folder: pathlib.Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        examples = tf.placeholder(tf.string, [None], "examples")
        parsed = tf.parse_example(examples, {"x": tf.FixedLenFeature([1], tf.float32)})["x"]
        x = tf.placeholder_with_default(parsed, [None, 1], "x")
        y = tf.add(x * tf.get_variable("a", initializer=0.5), 2.0, name="y")
        text = tf.placeholder(tf.string, [None], "text")
        number = tf.placeholder(tf.int32, [None], "number")
        doubled, joined = tf.identity(number * 2, "doubled"), tf.string_join([text, text], name="joined")
        session.run(tf.global_variables_initializer())
        info, made = tf.saved_model.build_tensor_info, tf.saved_model.build_signature_def
        builder = tf.saved_model.Builder(str(folder))
        builder.add_meta_graph_and_variables(session, ["serve"], {
            "serving_default": made({"x": info(x)}, {"y": info(y)}, "tensorflow/serving/predict"),
            "two": made({"text": info(text), "number": info(number)}, {"joined": info(joined), "doubled": info(doubled)},
                        "tensorflow/serving/predict"),
            "regress": made({"inputs": info(examples)}, {"outputs": info(y)}, "tensorflow/serving/regress"),
        })  # fmt: skip
        builder.save()


class Body:
    """What the REST side needs of a request."""

    method = "POST"
    headers: dict[str, str] = {}
    content_length = None

    def __init__(self, path: str, body: bytes) -> None:
        self.rel_url = self
        self.raw_path = path
        self._body = body

    async def read(self) -> bytes:
        return self._body


async def fuzz(server: ModelServer, count: int, seed: int) -> tuple[dict[str, int], list[str]]:
    chance = random.Random(seed)
    rest = Rest(server.calls)
    tallies: dict[str, int] = {}
    wrong: list[str] = []
    predict = predict_pb2.PredictRequest()
    predict.model_spec.name = "m"
    predict.inputs["x"].CopyFrom(tf.make_tensor_proto(np.ones((3, 1), np.float32)))
    two = predict_pb2.PredictRequest()
    two.model_spec.name, two.model_spec.signature_name = "m", "two"
    two.inputs["text"].CopyFrom(tf.make_tensor_proto(["a", "b"]))
    two.inputs["number"].CopyFrom(tf.make_tensor_proto([1, 2]))
    regress = regression_pb2.RegressionRequest()
    regress.model_spec.name, regress.model_spec.signature_name = "m", "regress"
    regress.input.example_list.examples.add().features.feature["x"].float_list.value.append(1.0)
    messages = [("predict", predict), ("predict", two), ("regress", regress)]
    wires = [m.SerializeToString() for _, m in messages]
    bodies = [
        (":predict", b'{"instances": [[1.0], [2.5]]}'),
        (":predict", b'{"inputs": {"x": [[1.0]]}, "signature_name": "serving_default"}'),
        (":predict", b'{"signature_name": "two", "instances": [{"text": "a", "number": 1}, {"text": {"b64": "YQ=="}, "number": 2}]}'),
        (":regress", b'{"signature_name": "regress", "context": {"x": 1.0}, "examples": [{"x": 2.0}, {}]}'),
    ]
    texts = [b for _, b in bodies]
    for i in range(count):
        shown: object = None
        try:
            if i % 2:
                path, body = bodies[chance.randrange(len(bodies))]
                body = shown = odd_json(body, chance) if chance.random() < 0.5 else mutated(body, texts, chance)
                path = "/v1/models/m" + path
                if chance.random() < 0.1:
                    path = mutated(path.encode(), [b"/v1/models/m/versions/1:predict"], chance).decode("latin-1")
                answer = await rest.handle(Body(path, body))  # type: ignore[arg-type]
                kind = f"REST {answer.status}"
                if answer.status == 500:
                    wrong.append(f"{path} {body!r}: {answer.body!r}")
            else:
                which = chance.randrange(len(messages))
                method, message = messages[which]
                if method == "predict" and chance.random() < 0.5:
                    request = type(message)()
                    request.CopyFrom(message)
                    odd_tensor(request.inputs[chance.choice(list(request.inputs))], chance)
                else:
                    request = type(message).FromString(mutated(wires[which], wires, chance))
                shown = request
                await server.calls.message(method, request)
                kind = "gRPC OK"
        except DecodeError:
            kind = "gRPC no message"
        except errors.OpError as e:
            kind = f"gRPC {type(e).__name__}"
            if isinstance(e, (errors.UnknownError, errors.InternalError)):
                wrong.append(f"{shown!r}: {e.message}")
        except Exception as e:
            kind = f"{type(e).__name__}"
            wrong.append(f"{shown!r}: {type(e).__name__}: {e}")
        tallies[kind] = tallies.get(kind, 0) + 1
    answer = await rest.handle(Body("/v1/models/m:predict", texts[0]))  # type: ignore[arg-type]
    if answer.status != 200:
        wrong.append("the next good request was not answered")
    return tallies, wrong


def main(count: int, seed: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        export(pathlib.Path(folder, "m", "1"))
        server = ModelServer(Options(port=-1, model_name="m", model_base_path=f"{folder}/m", file_system_poll_wait_seconds=0))
        server.load()
        start = time.perf_counter()
        tallies, wrong = asyncio.run(fuzz(server, count, seed))
        seconds = time.perf_counter() - start
        asyncio.run(server.close(1))
    for kind, number in sorted(tallies.items(), key=lambda item: -item[1]):
        print(f"{number:>8}  {kind}")
    print(f"{count} requests in {seconds:.0f} s, {len(wrong)} answered wrongly")
    for text in wrong[:20]:
        print("  " + text[:400])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000, int(sys.argv[2]) if len(sys.argv) > 2 else 0))
