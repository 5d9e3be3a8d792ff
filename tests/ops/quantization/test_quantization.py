"""Quantization: levels and back, fake quantization, quantized layers."""

import numpy as np
import pytest

import everflow as tf
from running import run

X = np.array([-7.0, -6.0, -0.02, 0.0, 1.0, 3.3, 6.0, 9.0], np.float32)


def test_levels_span_the_range():
    levels, low, high = run(tf.quantization.quantize(X, -6.0, 6.0, tf.quint8))
    assert levels.dtype == np.uint8 and levels[[0, 1, 6, 7]].tolist() == [0, 0, 255, 255] and (low, high) == (-6, 6)


@pytest.mark.parametrize("mode", ["MIN_COMBINED", "MIN_FIRST", "SCALED"])
@pytest.mark.parametrize("dtype", [tf.qint8, tf.quint8, tf.qint16, tf.quint16])
def test_there_and_back_loses_less_than_two_levels(mode, dtype):
    def both():
        levels, low, high = tf.quantization.quantize(X, 0.0 if mode == "SCALED" and dtype.name[1] == "u" else -10.0, 10.0, dtype, mode=mode)
        return tf.quantization.dequantize(levels, low, high, mode=mode)

    expected = np.maximum(X, 0) if mode == "SCALED" and dtype.name[1] == "u" else X
    np.testing.assert_allclose(run(both()), expected, atol=2 * 20 / (255 if "8" in dtype.name else 65535))


def test_ranges_run_upward():
    with pytest.raises(tf.errors.InvalidArgumentError, match="input_max_range must be larger"):
        run(tf.quantization.quantize(X, 1.0, -1.0, tf.quint8))


def test_fake_quantization_rounds_to_levels_that_hold_zero():
    found = run(tf.fake_quant_with_min_max_args([-0.1, 0.0, 0.12, 0.9, 63.75], min=0.0, max=63.75))
    np.testing.assert_allclose(found, [0, 0, 0, 1, 63.75], atol=1e-6)
    nudged = run(tf.fake_quant_with_min_max_vars([-0.1, 0.0, 63.65], -0.1, 63.65))
    np.testing.assert_allclose(nudged, [0, 0, 63.75], atol=1e-5)


def test_gradients_of_fake_quantization_go_to_the_range_outside_of_it():
    def gradients():
        x, low, high = tf.constant([[-2.0, 0.5], [0.1, 9.0]]), tf.constant([-1.0, -1.0]), tf.constant([1.0, 1.0])
        y = tf.fake_quant_with_min_max_vars_per_channel(x, low, high)
        return tf.gradients(y * [[1.0, 2.0], [3.0, 4.0]], [x, low, high])

    x, low, high = run(gradients())
    assert x.tolist() == [[0, 2], [3, 0]] and low.tolist() == [1, 0] and high.tolist() == [0, 4]


def test_quantizing_and_dequantizing_passes_gradients_straight_through():
    def both():
        x = tf.constant([-1.0, 0.3, 2.0])
        y = tf.quantization.quantize_and_dequantize(x, -1.0, 1.0, num_bits=4, range_given=True)
        return [y, *tf.gradients(y, x)]

    y, dx = run(both())
    np.testing.assert_allclose(y, [-1, 2 / 7, 1], rtol=1e-6)
    assert dx.tolist() == [1, 1, 1]


def quantized(x, low, high):
    return tf.quantization.quantize(x, low, high, tf.quint8, mode="MIN_FIRST")


def test_products_of_quantized_matrices():
    a, b = np.array([[1.0, 2.0], [-1.0, 0.5]], np.float32), np.array([[0.5, 0.0], [1.0, -1.0]], np.float32)

    def product():
        (qa, low_a, high_a), (qb, low_b, high_b) = quantized(a, -2.0, 2.0), quantized(b, -1.0, 1.0)
        out, low, high = tf.raw_ops.QuantizedMatMul(a=qa, b=qb, min_a=low_a, max_a=high_a, min_b=low_b, max_b=high_b)
        small, low, high = tf.raw_ops.QuantizeDownAndShrinkRange(input=out, input_min=low, input_max=high, out_type=tf.quint8)
        return tf.quantization.dequantize(small, low, high, mode="MIN_FIRST")

    np.testing.assert_allclose(run(product()), a @ b, atol=0.05)


def test_quantized_convolution_and_pooling():
    image, kernel = np.arange(16.0, dtype=np.float32).reshape(1, 4, 4, 1) / 4, np.ones((2, 2, 1, 1), np.float32)

    def layers():
        (qx, low, high), (qf, low_f, high_f) = quantized(image, 0.0, 4.0), quantized(kernel, -1.0, 1.0)
        found = tf.nn.quantized_conv2d(qx, qf, low, high, low_f, high_f, [1, 1, 1, 1], "VALID")
        pooled = tf.nn.quantized_max_pool(qx, low, high, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        return [tf.quantization.dequantize(*found, mode="MIN_FIRST"), tf.quantization.dequantize(*pooled, mode="MIN_FIRST")]

    convolved, pooled = run(layers())
    np.testing.assert_allclose(convolved[0, 0, :, 0], [2.5, 3.5, 4.5], atol=0.1)
    np.testing.assert_allclose(pooled[0, ..., 0], [[1.25, 1.75], [3.25, 3.75]], atol=0.02)


def test_concatenation_finds_a_range_for_all():
    def joined():
        (a, low_a, high_a), (b, low_b, high_b) = quantized([1.0, -1.0], -1.0, 1.0), quantized([5.0, 0.0], 0.0, 5.0)
        return tf.quantization.dequantize(*tf.quantization.quantized_concat(0, [a, b], [low_a, low_b], [high_a, high_b]), mode="MIN_FIRST")

    np.testing.assert_allclose(run(joined()), [1, -1, 5, 0], atol=0.03)


def test_the_last_digit_decides_halfway_between_two_levels():
    # Measured: learned ranges divide by the step, constant ones multiply by its inverse.
    x = np.float32([-1.9529412, -1.7647059, 2.0])
    learned = np.float32([-1.9764705, -1.7882352, 1.9764705])
    assert run(tf.quantization.fake_quant_with_min_max_vars(x, -6.0, 6.0)) == pytest.approx(learned, abs=1e-6)
    assert run(tf.quantization.fake_quant_with_min_max_vars_per_channel(x[:, None], [-6.0], [6.0]))[:, 0] == pytest.approx(
        learned, abs=1e-6
    )
    constant = run(tf.quantization.fake_quant_with_min_max_args(x, -6.0, 6.0))
    assert constant[:2] == pytest.approx(np.float32([-1.9294119, -1.7411766]), abs=1e-6)


def test_zero_is_read_as_zero():
    assert run(tf.quantization.dequantize(*quantized([0.0, 1.7], -1.3, 2.7), mode="MIN_FIRST"))[0] == 0


def test_results_of_32_bits_are_narrowed_in_fixed_point():
    # Measured on 1.15.5, which rounds these down.
    wide = tf.bitcast(tf.constant([43567, -6783, 83746], tf.int32), tf.qint32)
    bits, _, _ = tf.raw_ops.Requantize(
        input=wide, input_min=-9e3, input_max=9e3, requested_output_min=-1.7, requested_output_max=0.45, out_type=tf.quint8
    )
    assert run(tf.bitcast(bits, tf.uint8)).tolist() == [223, 198, 243]


def test_normalized_batches_and_instances_and_resized_images():
    image = np.random.RandomState(0).rand(1, 4, 4, 2).astype(np.float32)
    ones, halves = [1.0, 1.0], [0.5, 0.5]

    def layers():
        qx, low, high = quantized(image, 0.0, 1.0)
        given = [t for value in (halves, ones, halves, ones) for t in quantized(value, 0.0, 1.0)]
        names = [name + end for name in ("m", "v", "beta", "gamma") for end in ("", "_min", "_max")]
        settings = {"out_type": tf.qint32, "variance_epsilon": 1e-3, "scale_after_normalization": True}
        by_batch = tf.raw_ops.QuantizedBatchNormWithGlobalNormalization(t=qx, t_min=low, t_max=high, **dict(zip(names, given)), **settings)
        by_instance = tf.raw_ops.QuantizedInstanceNorm(x=qx, x_min=low, x_max=high, variance_epsilon=1e-5)
        resized = tf.raw_ops.QuantizedResizeBilinear(images=qx, size=[2, 2], min=low, max=high, align_corners=True)
        return [tf.quantization.dequantize(*t, mode="MIN_FIRST") for t in (by_batch, by_instance, resized)]

    by_batch, by_instance, resized = run(layers())
    normal = (image - image.mean((1, 2))) / image.std((1, 2))
    np.testing.assert_allclose(by_batch, image, atol=0.01)
    np.testing.assert_allclose(by_instance, normal, atol=0.05)
    np.testing.assert_allclose(resized, image[:, ::3, ::3], atol=0.01)


def test_signed_numbers_are_joined_in_a_range_around_zero():
    x = tf.bitcast(tf.constant([2**30]), tf.qint32)
    values, low, high = run(list(tf.raw_ops.QuantizedConcat(concat_dim=0, values=[x, x], input_mins=[-1.0, -1.0], input_maxes=[3.0, 3.0])))
    assert (low, high, values.shape) == (-3, 3, (2,))
    with pytest.raises(tf.errors.InvalidArgumentError, match="in the range"):
        run(list(tf.raw_ops.QuantizedConcat(concat_dim=-1, values=[x, x], input_mins=[-1.0, -1.0], input_maxes=[3.0, 3.0])))
