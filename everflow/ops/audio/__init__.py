"""Sound: WAV files and spectrograms (`tf.audio`)."""
