"""Loads damaged checkpoints, SavedModels and GraphDefs, and counts how that ends.

    python tests/saved_model/mutations.py COUNT SEED

Each load has to end in a `tf.errors` exception or, where the damage does no harm, well. Prints one line: how many were refused and how
many loaded, the slowest load in seconds, and by how many megabytes memory grew.
"""

from __future__ import annotations

import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError

import everflow as tf
from everflow.eager.context import eager_mode
from everflow.proto import saved_model_pb2

TEXTS = ("", "x", "../../secret", "/etc/passwd", "a" * 1000, "^x", ":0", "\0", "Const", "Fill")
NUMBERS = (0, 1, -1, 100, 2**31 - 1, -(2**31), 2**40, -(2**63), 2**63 - 1)
LENGTHS = (b"\xff\xff\xff\xff\x0f", b"\xff" * 9 + b"\x01", b"\xff\xff\xff\x7f", b"\x80\x80\x80\x80\x20")


def write_models(folder: Path) -> None:
    """A checkpoint, a session's SavedModel, a SavedModel of objects, and a GraphDef."""
    words = folder / "words.txt"
    words.write_text("a\nb\n")

    def table() -> Any:
        return tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                str(words), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
            ),
            -1,
        )

    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3])
        w = tf.get_variable("w", [3, 2], use_resource=True)
        n = tf.get_variable("n", initializer=tf.constant(7))
        tf.Variable(["a", "bc"], name="words")
        steps = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
        y = tf.nn.relu(tf.matmul(x, w) + tf.cast(steps + tf.cond(n > 3, lambda: n, lambda: n * 2), tf.float32))
        table()
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        tf.train.Saver().save(session, str(folder / "values"))
        tf.saved_model.simple_save(session, str(folder / "session"), {"x": x}, {"y": y}, legacy_init_op=tf.tables_initializer())
        (folder / "graph.pb").write_bytes(graph.as_graph_def().SerializeToString())
    with tf.Graph().as_default(), eager_mode():
        root = tf.Module()
        root.v, root.items, root.table = tf.Variable([1.0, 2.0]), [tf.Variable(3.0)], table()
        root.f = tf.function(lambda x: root.v[0] * x, input_signature=[tf.TensorSpec([None], tf.float32)])
        root.look_up = tf.function(lambda x: root.table.lookup(x), input_signature=[tf.TensorSpec([None], tf.string)])
        tf.saved_model.save(root, str(folder / "objects"), root.f)


# -- damage


def damage_bytes(draw: random.Random, content: bytes) -> bytes:
    """Cut off, with flipped bits, with absurd lengths, with noise, or with a piece twice."""
    damaged = bytearray(content)
    at = draw.randrange(len(damaged))
    kind = draw.randrange(5)
    if kind == 0:
        del damaged[at:]
    elif kind == 1:
        for _ in range(draw.randint(1, 8)):
            damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
    elif kind == 2:
        damaged[at : at + draw.choice([1, 4, 9])] = draw.choice(LENGTHS)
    elif kind == 3:
        damaged[at : at + 16] = draw.randbytes(len(damaged[at : at + 16]))
    else:
        damaged[at:at] = damaged[: draw.randint(1, 200)]
    return bytes(damaged)


def damage_fields(draw: random.Random, message: Any) -> None:
    """Changes up to three fields somewhere in a message: what can be parsed can still be wrong."""
    for _ in range(draw.randint(1, 3)):
        places = list(_fields(message))
        if places:
            owner, field = draw.choice(places)
            try:
                _damage_field(draw, owner, field)
            except (ValueError, TypeError):
                # The field cannot hold this value; another one gets its turn.
                continue


def _is_map(field: Any) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _fields(message: Any) -> Any:
    for field, value in message.ListFields():
        yield message, field
        if _is_map(field):
            inner = [value[key] for key in value] if field.message_type.fields_by_name["value"].message_type is not None else []
        elif field.message_type is not None:
            inner = list(value) if field.is_repeated else [value]
        else:
            inner = []
        for each in inner:
            yield from _fields(each)


def _damage_field(draw: random.Random, owner: Any, field: Any) -> None:
    value = getattr(owner, field.name)
    if _is_map(field):
        del value[draw.choice(list(value))]
    elif field.is_repeated:
        at = draw.randrange(len(value))
        if draw.random() < 0.5:
            del value[at]
        elif field.message_type is not None:
            value.add().CopyFrom(value[at])
        else:
            value[at] = _another(draw, field)
    elif field.message_type is not None:
        owner.ClearField(field.name)
    else:
        setattr(owner, field.name, _another(draw, field))


def _another(draw: random.Random, field: Any) -> Any:
    kind = field.cpp_type
    if kind == FieldDescriptor.CPPTYPE_ENUM:
        return draw.choice([v.number for v in field.enum_type.values])
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return draw.random() < 0.5
    if kind in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
        return draw.choice([0.0, float("nan"), -1e30])
    if kind == FieldDescriptor.CPPTYPE_STRING:
        text = draw.choice(TEXTS)
        return text.encode() if field.type == FieldDescriptor.TYPE_BYTES else text
    return draw.choice(NUMBERS)


# -- loading


def read_checkpoint(path: Path) -> None:
    reader = tf.train.NewCheckpointReader(str(path))
    for name in reader.get_variable_to_shape_map():
        reader.get_tensor(name)


def restore(path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("w", [3, 2])
        tf.Variable(["", ""], name="words")
        tf.train.Saver().restore(session, str(path))


def load_into_session(path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.load(session, [tf.saved_model.SERVING], str(path))


def load_objects(path: Path) -> None:
    with tf.Graph().as_default(), eager_mode():
        tf.saved_model.load_v2(str(path))


def import_graph(path: Path) -> None:
    graph_def = tf.GraphDef()
    try:
        graph_def.ParseFromString(path.read_bytes())
    except DecodeError:
        # The program's own call of protobuf.
        raise tf.errors.DataLossError(None, None, "no GraphDef") from None
    with tf.Graph().as_default():
        tf.import_graph_def(graph_def, name="")


def cases(folder: Path) -> list[tuple[Path, Callable[[Path], None], Path, Any]]:
    """(file to damage, how to load, what to load, message in the file or None)."""
    checkpoint, session, objects, graph = (folder / n for n in ("values", "session", "objects", "graph.pb"))
    index, data = Path(f"{checkpoint}.index"), Path(f"{checkpoint}.data-00000-of-00001")
    found: list[tuple[Path, Callable[[Path], None], Path, Any]] = [
        (file, load, checkpoint, None) for file in (index, data) for load in (read_checkpoint, restore)
    ]
    for kind, model in ((saved_model_pb2.SavedModel, session), (saved_model_pb2.SavedModel, objects)):
        for load in (load_into_session, load_objects):
            found += [(model / "saved_model.pb", load, model, message) for message in (None, kind)]
            found.append((model / "variables" / "variables.index", load, model, None))
    return [*found, (graph, import_graph, graph, None), (graph, import_graph, graph, tf.GraphDef)]


def main(count: int, seed: int) -> None:
    # More than a load may take, less than would harm the machine.
    resource.setrlimit(resource.RLIMIT_AS, (1 << 34, 1 << 34))
    draw = random.Random(seed)
    refused = loaded = 0
    slowest = 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_models(folder)
        every = cases(folder)
        for _, load, path, _ in every:
            load(path)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for i in range(count):
            file, load, path, kind = every[i % len(every)]
            content = file.read_bytes()
            if kind is None:
                file.write_bytes(damage_bytes(draw, content))
            else:
                message = kind.FromString(content)
                damage_fields(draw, message)
                file.write_bytes(message.SerializeToString())
            start = time.process_time()
            try:
                load(path)
                loaded += 1
            except tf.errors.OpError:
                refused += 1
            slowest = max(slowest, time.process_time() - start)
            file.write_bytes(content)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    print(f"refused {refused} loaded {loaded} slowest {slowest:.1f} grown {grown}", flush=True)
    # Threads of models that were loaded in part may still wait.
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
