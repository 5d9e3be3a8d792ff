"""Sound: WAV files, spectrograms, cepstral coefficients."""

import numpy as np
import pytest

import everflow as tf
from running import run

RATE = 8000
TONE = np.sin(2 * np.pi * 1000 * np.arange(800) / RATE).astype(np.float32)[:, None]


def test_wav_there_and_back():
    audio, rate = run(tf.audio.decode_wav(tf.audio.encode_wav(TONE * 0.9, RATE)))
    np.testing.assert_allclose(audio, TONE * 0.9, atol=2e-5)
    assert rate == RATE


def test_samples_and_channels_as_asked():
    short, _ = run(tf.audio.decode_wav(tf.audio.encode_wav(TONE, RATE), desired_channels=2, desired_samples=900))
    assert short.shape == (900, 2) and not short[800:].any() and (short[:, 0] == short[:, 1]).all()


def test_what_is_no_wav_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Header mismatch: Expected RIFF but found RIFX"):
        run(tf.audio.decode_wav(b"RIFX" + b"\0" * 60))


def test_a_spectrogram_shows_a_tone_at_its_frequency():
    found = run(tf.raw_ops.AudioSpectrogram(input=TONE, window_size=256, stride=128, magnitude_squared=True))
    assert found.shape == (1, 5, 129)
    assert (found[0].argmax(1) == 1000 * 256 // RATE).all()


def test_cepstral_coefficients_are_cosines_of_logarithms():
    def both():
        spectrogram = tf.raw_ops.AudioSpectrogram(input=TONE, window_size=256, stride=128, magnitude_squared=True)
        return [tf.raw_ops.Mfcc(spectrogram=spectrogram, sample_rate=RATE, dct_coefficient_count=n) for n in (5, 13)]

    few, many = run(both())
    assert many.shape == (1, 5, 13)
    np.testing.assert_allclose(few, many[..., :5])
    silence = run(tf.raw_ops.Mfcc(spectrogram=np.zeros((1, 1, 129), np.float32), sample_rate=RATE))
    np.testing.assert_allclose(silence[0, 0, :2], [np.sqrt(2 / 40) * 40 * np.log(1e-12), 0], atol=1e-3)
