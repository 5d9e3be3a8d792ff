"""Ops with kernels for GPUs: nvcc compiles them, and where there is no GPU their kernels for CPUs run."""

import pathlib
import shutil
import subprocess

import numpy as np
import pytest

import everflow as tf

HERE = pathlib.Path(__file__).resolve().parent
COMPILER, NVCC = shutil.which("g++"), shutil.which("nvcc")


@pytest.mark.skipif(NVCC is None or COMPILER is None, reason="needs nvcc")
def test_kernels_for_gpus_compile_and_those_for_cpus_run(tmp_path, session):
    flags = [*tf.sysconfig.get_compile_flags(), "-DGOOGLE_CUDA=1", "-DEVERFLOW_NO_EIGEN"]
    folder = HERE / "gpu"
    device = [NVCC, "-std=c++17", "-x", "cu", "-Xcompiler", "-fPIC,-Wall,-Wextra,-Werror", "-c", folder / "scale.cu.cc", *flags]
    subprocess.run([*device, "-o", tmp_path / "scale.cu.o"], check=True)
    host = [COMPILER, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", folder / "scale.cc", tmp_path / "scale.cu.o"]
    libraries = toolkit_libraries()
    subprocess.run([*host, *flags, "-o", tmp_path / "scale.so", *tf.sysconfig.get_link_flags(), f"-L{libraries}", "-lcudart"], check=True)
    ops = tf.load_op_library(str(tmp_path / "scale.so"))
    assert session.run(ops.scale_by_two(x=np.float32([1, 2]))).tolist() == [2, 4]
    with pytest.raises(tf.errors.NotFoundError, match=r"No OpKernel was registered.*\n.*\n  device='CPU'; T in \[DT_float\]"):
        session.run(ops.scale_by_two(x=np.float64([1, 2])))


def toolkit_libraries():
    """Where the toolkit's libraries are, by what nvcc says that it would do."""
    told = subprocess.run([NVCC, "--dryrun", "-x", "cu", "/dev/null"], capture_output=True, text=True, check=True).stderr
    return next(word.strip('"').removeprefix("-L") for word in told.split() if word.strip('"').startswith("-L") and "stubs" not in word)
