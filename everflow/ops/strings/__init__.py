"""Text: parts, numbers, hashes, encodings, regular expressions (`tf.strings`)."""
