"""Exports from before SavedModels: written, kept by version, and loaded."""

import os

import pytest

import everflow as tf
from everflow.api import find

exporter, gc = tf.contrib.session_bundle.exporter, tf.contrib.session_bundle.gc
load_export = tf.contrib.session_bundle.session_bundle.load_session_bundle_from_path


@pytest.fixture
def exports(tmp_path):
    """Exports half-plus-two, versions 1 to 3, of which two are kept."""
    words = tmp_path / "words.txt"
    words.write_text("data")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, name="x")
        half = tf.Variable(0.5)
        plus = tf.Variable(0.0, collections=[])
        y = tf.add(half * x, plus, name="y")
        path = tf.constant(str(words), name="path")
        kept = tf.Variable("", collections=[], name="kept")
        init_op = tf.group(plus.assign(2.0), kept.assign(path), name="init_op")
        session.run(tf.global_variables_initializer())
        export = exporter.Exporter(tf.train.Saver([half]))
        export.init(
            init_op=init_op,
            default_graph_signature=exporter.regression_signature(x, y),
            assets_collection=[path],
            named_graph_signatures={"inputs": exporter.generic_signature({"x": x}), "outputs": exporter.generic_signature({"y": y})},
        )
        for version in (1, 2, 3):
            folder = export.export(str(tmp_path / "out"), tf.constant(version), session, exports_to_keep=gc.largest_export_versions(2))
            assert folder == os.fsencode(tmp_path / "out" / f"0000000{version}")
        with pytest.raises(RuntimeError, match="Overwriting exports"):
            export.export(str(tmp_path / "out"), tf.constant(3), session)
    return tmp_path / "out"


def test_the_newest_versions_are_kept(exports):
    assert sorted(p.name for p in exports.iterdir()) == ["00000002", "00000003"]


def test_an_export_loads_with_variables_files_and_signatures(exports):
    with tf.Graph().as_default():
        session, meta_graph_def = load_export(str(exports / "00000003"))
        with session:
            assert session.run("y:0", {"x:0": 3.0}) == 3.5
            assert session.run("kept:0").decode() == str(exports / "00000003" / "assets" / "words.txt")
    assert "serving_signatures" in meta_graph_def.collection_def


def test_exports_get_the_signatures_of_saved_models(exports):
    with tf.Graph().as_default():
        load_any = find("contrib.session_bundle.bundle_shim.load_session_bundle_or_saved_model_bundle_from_path")
        session, meta_graph_def = load_any(str(exports / "00000003"))
        session.close()
    told = meta_graph_def.signature_def["serving_default"]
    assert told.method_name == "tensorflow/serving/regress"
    assert (told.inputs["inputs"].name, told.outputs["outputs"].name) == ("x:0", "y:0")


def test_what_is_no_export_says_so(tmp_path):
    with pytest.raises(RuntimeError, match="Expected meta graph file missing"):
        load_export(str(tmp_path))


def test_filters_of_versions_go_together():
    paths = [gc.Path("/e", n) for n in range(10)]
    keep = gc.union(gc.largest_export_versions(1), gc.mod_export_version(4))
    assert [p.export_version for p in keep(paths)] == [0, 4, 8, 9]
    assert [p.export_version for p in gc.negation(keep)(paths)] == [1, 2, 3, 5, 6, 7]
    assert [p.export_version for p in gc.one_of_every_n_export_versions(3)(paths)] == [3, 6, 9]
