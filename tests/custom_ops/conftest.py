"""Libraries of custom ops are compiled once for all tests, as users compile them."""

import pathlib
import shutil
import subprocess

import pytest

import everflow as tf

HERE = pathlib.Path(__file__).resolve().parent
COMPILER = shutil.which("g++") or shutil.which("clang++")


def compiled(source, target, *flags):
    """Compiles a library with the flags that tf.sysconfig gives; warnings are errors."""
    if COMPILER is None:
        pytest.skip("there is no C++ compiler")
    command = [COMPILER, "-std=c++11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", str(source), "-o", str(target)]
    subprocess.run([*command, *tf.sysconfig.get_compile_flags(), *tf.sysconfig.get_link_flags(), *flags], check=True, cwd=HERE)
    return target


@pytest.fixture(scope="session")
def ops_library(tmp_path_factory):
    """Where the library of ops.cc is."""
    return compiled("ops.cc", tmp_path_factory.mktemp("custom_ops") / "ops.so", "-DEVERFLOW_NO_EIGEN")


@pytest.fixture(scope="session")
def ops(ops_library):
    """The ops of ops.cc."""
    return tf.load_op_library(str(ops_library))


@pytest.fixture(scope="session")
def datasets(tmp_path_factory):
    """The ops of datasets.cc."""
    return tf.load_op_library(str(compiled("datasets.cc", tmp_path_factory.mktemp("datasets") / "datasets.so", "-DEVERFLOW_NO_EIGEN")))


@pytest.fixture(scope="session")
def drawer(tmp_path_factory):
    """The file system of files.cc: paths that begin with drawer://."""
    return tf.load_file_system_library(str(compiled("files.cc", tmp_path_factory.mktemp("files") / "files.so")))


@pytest.fixture
def library(tmp_path):
    """Compiles a text, and returns the path of the library."""

    def compile_text(text, name="lib.so", flags=("-DEVERFLOW_NO_EIGEN",)):
        (tmp_path / "lib.cc").write_text('#include "tensorflow/core/framework/op_kernel.h"\nusing namespace tensorflow;\n' + text)
        return str(compiled(tmp_path / "lib.cc", tmp_path / name, *flags))

    return compile_text
