"""Integer features of speech. The expected numbers are TensorFlow 1.15.5's."""

import numpy as np
import pytest

import everflow as tf
from running import run

features = tf.lite.experimental.microfrontend.python.ops.audio_microfrontend


@pytest.fixture
def sound():
    t = np.arange(1600) % 800
    return tf.constant(((t * t * 37) % 20011 - 10005).astype(np.int16))


@pytest.mark.parametrize(
    "settings, first, total",
    [
        ({}, [660, 602, 660, 604, 662, 605, 663, 605], 34502),
        ({"enable_pcan": False}, [791, 788, 807, 800, 817, 822, 831, 837], 51221),
        ({"enable_log": False, "enable_pcan": False}, [28988, 27663, 37627, 33684, 44014, 47485, 54321, 59897], 2271661),
        # A Fourier transform of 1024 samples, whose half has a factor of two besides those of four.
        ({"window_size": 60, "window_step": 15, "num_channels": 4}, [708, 652, 709, 655], 7711),
    ],
)
def test_features_are_those_of_tensorflow_to_the_bit(sound, settings, first, total):
    found = run(features(sound, **{"num_channels": 8, **settings}))
    assert found.dtype == np.uint16
    assert (found[0].tolist(), int(found.sum(dtype=np.int64))) == (first, total)


def test_rows_may_hold_the_frames_beside_them(sound):
    alone = run(features(sound, num_channels=4)).astype(np.float32) / np.float32(10)
    rows = features(sound, num_channels=4, left_context=1, right_context=1, frame_stride=2, out_scale=10, out_type=tf.float32)
    assert rows.shape.as_list() == [4, 12]
    rows = run(rows).reshape(4, 3, 4)
    assert (rows[:, 1] == alone[::2]).all() and (rows[:, 2] == alone[1::2]).all() and (rows[1:, 0] == alone[1:-1:2]).all()
    assert (rows[0, 0] == alone[0]).all()
    padded = run(features(sound, num_channels=4, left_context=1, zero_padding=True))
    assert (padded[0, :4] == 0).all() and padded[0, 4:].all()


def test_sound_shorter_than_a_window_has_no_features():
    assert run(features(tf.zeros([399], tf.int16), left_context=1)).shape == (0, 64)
    assert run(features(tf.zeros([2, 200], tf.int16))).tolist() == [[0] * 32]


def test_what_can_not_be_is_an_error(sound):
    with pytest.raises(ValueError, match="known rank"):
        features(tf.placeholder(tf.int16))
    with pytest.raises(tf.errors.InternalError, match="failed to populate frontend state"):
        run(features(sound, upper_band_limit=9000.0))
    with pytest.raises(ValueError, match="Divisor must be positive but is 0"):
        features(sound, window_step=0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="out_scale"):
        run(features(sound, out_scale=0))


def test_programs_find_it_where_tensorflow_has_it(sound):
    module = tf.lite.experimental.microfrontend
    assert module.python.ops.audio_microfrontend_op.audio_microfrontend is features
    # The op itself leaves the gain alone unless asked.
    raw = module.ops.gen_audio_microfrontend_op.audio_microfrontend(sound, num_channels=8)
    assert int(run(raw).sum(dtype=np.int64)) == 51221
