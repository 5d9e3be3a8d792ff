"""SavedModels: written, loaded, shown and run."""

import os

import numpy as np
import pytest

import everflow as tf
from everflow.saved_model.loader import SavedModelLoader
from everflow.tools import saved_model_cli


def write_model(path, **kwargs):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.get_variable("w", initializer=[[1.0], [2.0]])
        y = tf.matmul(x, w, name="y")
        sess.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(sess, str(path), {"x": x}, {"y": y}, **kwargs)
    return str(path)


def test_a_model_gives_the_same_numbers(tmp_path):
    path = write_model(tmp_path / "m")
    assert tf.saved_model.contains_saved_model(path)
    with tf.Graph().as_default(), tf.Session() as sess:
        meta_graph = tf.saved_model.load(sess, [tf.saved_model.SERVING], path)
        signature = meta_graph.signature_def["serving_default"]
        assert signature.method_name == "tensorflow/serving/predict"
        assert sess.run(signature.outputs["y"].name, {signature.inputs["x"].name: [[1, 1]]}).tolist() == [[3]]


def test_a_folder_that_holds_something_is_not_written_over(tmp_path):
    path = write_model(tmp_path / "m")
    with pytest.raises(AssertionError, match="isn't empty"):
        tf.saved_model.Builder(path)


def test_several_graphs_have_tags_and_share_variables(tmp_path):
    builder = tf.saved_model.Builder(str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", initializer=1.0)
        sess.run(tf.global_variables_initializer())
        with pytest.raises(AssertionError, match="not been saved yet"):
            builder.add_meta_graph(["early"])
        builder.add_meta_graph_and_variables(sess, ["train"])
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=0.0)
        tf.add(v, 1.0, name="more")
        builder.add_meta_graph(["serve", "gpu"])
    builder.save(as_text=True)
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.saved_model.load(sess, ["gpu", "serve"], str(tmp_path / "m"))
        assert sess.run("more:0") == 2
        with pytest.raises(RuntimeError, match="could not be found in SavedModel"):
            tf.saved_model.load(sess, ["serve"], str(tmp_path / "m"))


def test_files_go_along_and_main_ops_run(tmp_path):
    (tmp_path / "words").write_text("a\nb\n")
    with tf.Graph().as_default(), tf.Session() as sess:
        name = tf.constant(str(tmp_path / "words"), name="file")
        tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, name)
        v = tf.get_variable("v", initializer=b"", collections=[tf.GraphKeys.LOCAL_VARIABLES])
        builder = tf.saved_model.Builder(str(tmp_path / "m"))
        builder.add_meta_graph_and_variables(
            sess, ["serve"], assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS), main_op=tf.group(v.assign(name))
        )
        builder.save()
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.saved_model.load(sess, ["serve"], str(tmp_path / "m"))
        found = sess.run("v:0").decode()
        assert found == str(tmp_path / "m/assets/words") and open(found).read() == "a\nb\n"


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/../../secret"])
def test_files_can_not_be_outside_of_the_model(tmp_path, name):
    path = write_model(tmp_path / "m")
    loader = SavedModelLoader(path)
    asset = loader.saved_model.meta_graphs[0].asset_file_def.add(filename=name)
    asset.tensor_info.name = "x:0"
    with tf.Graph().as_default(), tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="not in the folder"):
        loader.load(sess, ["serve"])


def test_signatures_are_checked():
    with tf.Graph().as_default():
        text, number = tf.placeholder(tf.string), tf.placeholder(tf.float32)
        build = tf.saved_model.classification_signature_def
        assert tf.saved_model.is_valid_signature(build(text, text, number))
        with pytest.raises(ValueError, match="Classification examples must be a string Tensor"):
            build(number, text, number)
        with pytest.raises(ValueError, match="cannot both be None"):
            build(text, None, None)
        with pytest.raises(ValueError, match="cannot be None or empty"):
            tf.saved_model.predict_signature_def({}, {"y": number})


def test_the_command_shows_and_runs(tmp_path, capsys):
    path = write_model(tmp_path / "m")
    saved_model_cli.command(["show", "--dir", path, "--tag_set", "serve", "--signature_def", "serving_default"])
    assert "inputs['x'] tensor_info:\n      dtype: DT_FLOAT\n      shape: (-1, 2)\n      name: x:0" in capsys.readouterr().out
    np.save(tmp_path / "x.npy", np.array([[1, 0], [0, 1]], np.float32))
    common = ["run", "--dir", path, "--tag_set", "serve", "--signature_def", "serving_default", "--outdir", str(tmp_path / "out")]
    saved_model_cli.command([*common, "--inputs", f"x={tmp_path / 'x.npy'}"])
    assert np.load(tmp_path / "out/y.npy").tolist() == [[1], [2]]
    saved_model_cli.command([*common, "--overwrite", "--input_exprs", "x=np.ones((1, 2)) * 3"])
    assert np.load(tmp_path / "out/y.npy").tolist() == [[9]]
    with pytest.raises(RuntimeError, match="already exists"):
        saved_model_cli.command([*common, "--input_exprs", "x=[[1, 2]]"])


@pytest.mark.parametrize("code", ["__import__('os').system('true')", "np.load('x')", "np.lib.npyio.os", "(1).__class__"])
def test_expressions_run_no_code(code):
    with pytest.raises(RuntimeError, match="is neither a number, a list nor a function of numpy"):
        saved_model_cli.preprocess_input_exprs_arg_string("x=" + code)


def test_what_is_not_a_model_is_refused(tmp_path):
    os.makedirs(tmp_path / "m")
    (tmp_path / "m/saved_model.pb").write_bytes(b"\xff\xff\xff")
    with tf.Graph().as_default(), tf.Session() as sess:
        with pytest.raises(OSError, match="Cannot parse"):
            tf.saved_model.load(sess, ["serve"], str(tmp_path / "m"))
        with pytest.raises(OSError, match="does not exist"):
            tf.saved_model.load(sess, ["serve"], str(tmp_path / "nothing"))


def test_signatures_and_assets_refuse_other_types(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        numbers, texts = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.string, [None])
        for build, given, what in (
            (tf.saved_model.regression_signature_def, (numbers, numbers), "Regression examples must be a string Tensor."),
            (tf.saved_model.regression_signature_def, (texts, numbers), "Regression output must be a float Tensor."),
            (tf.saved_model.classification_signature_def, (numbers, None, numbers), "Classification examples must be a string Tensor."),
            (tf.saved_model.classification_signature_def, (texts, numbers, None), "Classification classes must be a string Tensor."),
            (tf.saved_model.classification_signature_def, (texts, None, texts), "Classification scores must be a float Tensor."),
        ):
            with pytest.raises(ValueError, match=what):
                build(*given)
        for number, (asset, what) in enumerate(
            (("path", "a Tensor"), (texts, "of type constant"), (tf.constant(1), "of dtype string"), (tf.constant(["a", "b"]), "a scalar"))
        ):
            builder = tf.saved_model.Builder(str(tmp_path / str(number)))
            with pytest.raises(TypeError, match=f"^Asset path tensor must be {what}.$"):
                builder.add_meta_graph_and_variables(sess, ["serve"], assets_collection=[asset])
