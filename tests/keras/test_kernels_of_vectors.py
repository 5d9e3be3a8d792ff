"""Kernels between vectors, and which recurrent layers a GPU's library could compute."""

import numpy as np
import pytest

import everflow as tf
from everflow import internals

kernels = internals.module("python.keras.utils.kernelized_utils")
recurrent = internals.module("python.keras.layers.recurrent_v2")


def test_kernels_of_all_pairs_of_rows(session):
    x, y = np.array([[1.0, 2.0], [-2.0, 0.9], [3.3, -1.0]]), np.array([[1.1, 2.1], [-2.0, 0.9]])
    apart = x[:, None] - y[None]
    gaussian, laplacian = session.run([kernels.exact_gaussian_kernel(x, y, 2.0), kernels.exact_laplacian_kernel(x, y, stddev=2.0)])
    np.testing.assert_allclose(gaussian, np.exp(-(apart**2).sum(2) / 8))
    np.testing.assert_allclose(laplacian, np.exp(-abs(apart).sum(2) / 2))
    assert session.run(kernels.exact_gaussian_kernel([1.0, 2.0], [1.0, 2.0], 1.0)).tolist() == [[1.0]]
    with pytest.raises(ValueError, match="Expected vectors or matrices"):
        kernels.exact_gaussian_kernel(tf.zeros([1, 2, 3]), [1.0], 1.0)


@pytest.mark.parametrize("kind", ["GRU", "LSTM"])
@pytest.mark.parametrize(
    "given", [{"activation": "relu"}, {"recurrent_activation": "relu"}, {"recurrent_dropout": 0.1}, {"unroll": True}, {"use_bias": False}]
)
def test_units_of_another_kind_are_not_for_a_gpus_library(kind, given):
    layer = getattr(recurrent, kind)
    assert layer(1).could_use_cudnn and not layer(1, **given).could_use_cudnn


def test_gates_that_reset_before_are_not_either():
    assert not recurrent.GRU(1, reset_after=False).could_use_cudnn
