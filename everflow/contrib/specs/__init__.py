"""tf.contrib.specs: networks written as short texts, such as `net = (Cr(64, [5, 5]) | Mp([2, 2])) ** 3 | Flat | Fs(10)`."""
