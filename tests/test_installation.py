"""What there is after `pip install everflow`, and what is said where it can't be built."""

import os
import pathlib
import subprocess
import sys
from importlib import metadata

import pytest

ROOT = pathlib.Path(__file__).parents[1]

# Packages that come with TensorFlow 1.15, and the modules that programs import of them.
BROUGHT = {
    "absl-py": "absl.flags",
    "astor": "astor",
    "gast": "gast",
    "google-pasta": "pasta",
    "grpcio": "grpc",
    "h5py": "h5py",
    "keras-applications": "keras_applications.resnet50",
    "keras-preprocessing": "keras_preprocessing.image",
    "numpy": "numpy",
    "opt-einsum": "opt_einsum",
    "protobuf": "google.protobuf.message",
    "six": "six.moves",
    "tensorboard": "tensorboard.main",
    "termcolor": "termcolor",
    "wrapt": "wrapt",
}


def run(code, cwd):
    """What a program prints under `everflow run`."""
    command = [sys.executable, "-m", "everflow", "run", "-c", code]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_tensorflow_depends_on_everflow_depends_on():
    needed = {line.split(";")[0].strip().lower().replace("_", "-") for line in metadata.requires("everflow") if "extra ==" not in line}
    names = {"".join(c if c.isalnum() or c in ".-" else " " for c in line).split()[0] for line in needed}
    assert BROUGHT.keys() <= names


def test_programs_import_what_comes_with_tensorflow(tmp_path):
    modules = [*BROUGHT.values(), "tensorflow_estimator", "tensorflow_estimator.python.estimator.estimator", "tensorflow_core"]
    assert run("\n".join(f"import {name}" for name in ["tensorflow", *modules]) + "\nprint('all')", tmp_path) == "all\n"


def test_tensorboards_command_comes_along():
    (command,) = [e for e in metadata.distribution("tensorboard").entry_points if e.group == "console_scripts"]
    assert command.name == "tensorboard" and callable(command.load())


def test_tensorboards_summaries_are_made_with_our_ops(tmp_path):
    assert (
        run(
            """
import tensorflow as tf
from tensorboard.plugins.pr_curve import summary

curve = summary.op("curve", labels=tf.constant([True, False]), predictions=tf.constant([0.9, 0.2]), num_thresholds=3)
with tf.Session() as sess:
    print(tf.Summary.FromString(sess.run(curve)).value[0].tag)
""",
            tmp_path,
        )
        == "curve/pr_curves\n"
    )


def test_keras_applications_builds_models_of_our_layers(tmp_path):
    assert (
        run(
            """
import tensorflow as tf
from keras_applications.mobilenet import MobileNet

parts = dict(backend=tf.keras.backend, layers=tf.keras.layers, models=tf.keras.models, utils=tf.keras.utils)
model = MobileNet(input_shape=(32, 32, 3), alpha=0.25, weights=None, classes=4, **parts)
print(isinstance(model, tf.keras.Model), model.output_shape, model.count_params())
""",
            tmp_path,
        )
        == "True (None, 4) 219572\n"
    )


def test_keras_preprocessing_makes_pictures_and_sequences(tmp_path):
    assert (
        run(
            """
import numpy as np
from keras_preprocessing.image import ImageDataGenerator, load_img, save_img
from keras_preprocessing.sequence import pad_sequences

pictures = np.arange(4 * 8 * 8 * 3, dtype="float32").reshape(4, 8, 8, 3) % 256
batch, labels = next(ImageDataGenerator(horizontal_flip=True, rescale=0.5).flow(pictures, [0, 1, 2, 3], batch_size=2, shuffle=False))
print(batch.shape, batch.dtype, labels, all(b.sum() == p.sum() / 2 for b, p in zip(batch, pictures)))
save_img("one.png", pictures[0])
print(load_img("one.png", target_size=(4, 4)).size)
print(pad_sequences([[1], [2, 3]]).tolist())
""",
            tmp_path,
        )
        == "(2, 8, 8, 3) float32 [0 1] True\n(4, 4)\n[[0, 1], [2, 3]]\n"
    )


def test_the_demo_runs_from_any_folder(tmp_path):
    command = [sys.executable, "-m", "everflow", "demo", "--steps", "2"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.splitlines()[-1].startswith("test accuracy: ")


def build(folder, **environment):
    """What building the native extension prints at its end."""
    command = [sys.executable, "setup.py", "-q", "build_ext", "-b", folder, "-t", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, env={**os.environ, **environment})
    assert done.returncode == 1
    return done.stderr.splitlines()[-1]


@pytest.mark.skipif(sys.platform == "win32", reason="there the compiler is not found by PATH or CXX")
def test_builds_without_a_compiler_say_so(tmp_path):
    expected = "error: A C++17 compiler is needed to build Everflow (such as g++), and there is none that works."
    assert build(tmp_path, PATH=str(tmp_path)) == expected
    assert build(tmp_path, CXX=str(tmp_path / "compiler")) == expected


@pytest.mark.skipif(sys.platform == "win32", reason="there the headers are part of every Python")
def test_builds_without_pythons_headers_say_so(tmp_path):
    (tmp_path / "Python.h").write_text("#error none")
    found = build(tmp_path, CXX=f"c++ -I{tmp_path}")
    assert found.startswith("error: Python's headers are needed to build Everflow (such as python3-dev), and are not in ")
