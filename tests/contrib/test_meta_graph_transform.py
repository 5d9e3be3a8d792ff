"""tensorflow.contrib.meta_graph_transform: graph transforms for whole MetaGraphDefs."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import meta_graph_transform as module
from everflow.contrib.meta_graph_transform import meta_graph_transform
from everflow.proto import meta_graph_pb2

WEIGHTS = np.arange(6, dtype=np.float32).reshape(3, 2)
COLUMN = np.array([[1], [0], [0], [3]], np.float32)


@pytest.fixture
def exported(tmp_path):
    """A model with a column of weights, a product, a table and what nobody needs; and its checkpoint."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        ids = tf.placeholder(tf.int64, [None], name="ids")
        tf.gather(tf.get_variable("column", initializer=COLUMN), ids, name="row")
        tf.matmul(tf.placeholder(tf.float32, [None, 3], name="x"), tf.get_variable("w", initializer=WEIGHTS), name="y")
        tf.square(tf.placeholder(tf.float32, name="aside"), name="unused")
        pairs = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1.0, 2.0])
        table = tf.lookup.StaticHashTable(pairs, 0.0)
        tf.identity(table.lookup(tf.placeholder(tf.string, [None], name="words")), name="found")
        tf.add_to_collection("legacy_init_op", tf.group(tf.tables_initializer(), name="begin"))
        for name in ("y:0", "unused:0"):
            tf.add_to_collection("mine", graph.get_tensor_by_name(name))
        tf.add_to_collection("numbers", 4)
        saver = tf.train.Saver()
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "model"), write_meta_graph=False)
        meta = tf.train.export_meta_graph(saver_def=saver.as_saver_def(), graph=graph)
    meta.signature_def["kept"].inputs["x"].name, meta.signature_def["kept"].outputs["y"].name = "x:0", "y:0"
    meta.signature_def["gone"].inputs["x"].name, meta.signature_def["gone"].outputs["y"].name = "aside:0", "unused:0"
    meta.meta_info_def.tags.append("train")
    return meta, path


def transformed(exported, *transforms):
    meta, path = exported
    before = meta.SerializeToString(deterministic=True)
    made = meta_graph_transform(meta, ["ids", "x", "words"], ["row", "y", "found"], list(transforms), ["serve"], path)
    assert meta.SerializeToString(deterministic=True) == before
    return made


def names(meta):
    return {node.name for node in meta.graph_def.node}


def computed(meta, path=None):
    """What the model computes, after it is restored or initialized as loaders do."""
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(meta)
        if path:
            saver.restore(session, path)
        session.run("begin")
        return session.run(["row:0", "y:0", "found:0"], {"ids:0": [3, 1], "x:0": [[1, 1, 1]], "words:0": ["b", "c"]})


def check(values):
    row, y, found = values
    assert row.tolist() == [[3], [0]]
    assert y.tolist() == [[6, 9]]
    assert found.tolist() == [2, 0]


def test_what_nobody_needs_is_gone_everywhere(exported):
    made = transformed(exported, "strip_unused_nodes")
    assert names(made) == names(exported[0]) - {"aside", "unused", "init"}
    assert [*made.meta_info_def.tags] == ["serve"]
    assert [*made.signature_def] == ["kept"]
    assert [*made.collection_def["mine"].node_list.value] == ["y:0"]
    assert [*made.collection_def["numbers"].int64_list.value] == [4]
    assert made.saver_def == exported[0].saver_def
    check(computed(made, exported[1]))


def test_frozen_graphs_need_no_checkpoint(exported):
    made = transformed(exported, "freeze_graph", "fold_constants")
    assert not made.HasField("saver_def")
    assert not any(node.op.startswith("Variable") for node in made.graph_def.node)
    assert not made.collection_def["variables"].bytes_list.value
    # Tables are filled by the op that was there, and by nothing that is gone.
    (begin,) = (node for node in made.graph_def.node if node.name == "begin")
    assert [name.removeprefix("^") for name in begin.input] == [*made.collection_def["table_initializer"].node_list.value]
    check(computed(made))


def test_graphs_without_an_op_to_begin_with_are_frozen_too(exported):
    del exported[0].collection_def["legacy_init_op"]
    made = transformed(exported, "freeze_graph")
    assert "begin" not in names(made)
    assert len(made.collection_def["table_initializer"].node_list.value) == 1


def test_columns_become_tables_and_the_other_variables_are_still_restored(exported):
    made = transformed(exported, "sparsify_gather", "strip_unused_nodes")
    assert "column" not in names(made)
    assert made.collection_def["table_initializer"].node_list.value[-1] == "column/InitializeTable"
    check(computed(made, exported[1]))


def test_frozen_columns_become_tables(exported):
    check(computed(transformed(exported, "freeze_graph", "sparsify_gather")))


def test_savers_without_their_ops_are_refused():
    meta = meta_graph_pb2.MetaGraphDef()
    meta.saver_def.filename_tensor_name = "w:0"
    with pytest.raises(ValueError, match="Expected Tensor, but it was removed: w:0"):
        module._add_pruned_saver(meta, meta_graph_pb2.MetaGraphDef(), ["w"])


@pytest.mark.parametrize("text", ['name: "w"', "w:0", b"\n\x01w", b"\n\x03w:0\x12", r"\n\001w", "loc:@w"])
def test_what_names_an_op_mentions_it(text):
    assert module._is_removed_mentioned(text, ["other", "w"])


@pytest.mark.parametrize("text", ["w2", "a_w", "a/w", "w/read", b"\n\x0aw/read:0", "w.b"])
def test_longer_names_are_other_ops(text):
    assert not module._is_removed_mentioned(text, ["w"])


def test_long_names_are_found_behind_their_lengths():
    name = "n" * ord("A")
    message = meta_graph_pb2.AssetFileDef(filename="f")
    message.tensor_info.name = name
    assert b"A" + name.encode() in message.SerializeToString()
    assert module._is_removed_mentioned(message.SerializeToString(), [name])
