"""Feeding: record files, parsing, mapping, shuffling, pictures and queues."""

import atexit
import os
import shutil
import tempfile

import numpy as np
from timing import case, session, tf, timed

COUNT = 20000


def passes(dataset):
    """The time of one pass through a dataset."""
    iterator = tf.data.make_initializable_iterator(dataset)
    element = tf.group(*tf.nest.flatten(iterator.get_next()))
    sess = session()

    def run():
        sess.run(iterator.initializer)
        step = sess.make_callable(element)
        try:
            while True:
                step()
        except tf.errors.OutOfRangeError:
            pass

    return timed(run, seconds=3.0, warm=1, least=3)


def record_file():
    """20,000 Examples: 16 floats, a string, a label."""
    rng = np.random.RandomState(0)
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, True)
    path = os.path.join(folder, "examples.tfrecord")
    writer = tf.python_io.TFRecordWriter(path)
    for i in range(COUNT):
        writer.write(
            tf.train.Example(
                features=tf.train.Features(
                    feature={
                        "values": tf.train.Feature(float_list=tf.train.FloatList(value=rng.rand(16))),
                        "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"example number %d" % i])),
                        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i % 10])),
                    }
                )
            ).SerializeToString()
        )
    writer.close()
    return path


FEATURES = {
    "values": tf.FixedLenFeature([16], tf.float32),
    "name": tf.FixedLenFeature([], tf.string),
    "label": tf.FixedLenFeature([], tf.int64),
}


@case
def records_batch_parse():
    """Reading a file of 20,000 Examples and parsing batches of 128."""
    return passes(tf.data.TFRecordDataset(record_file()).batch(128).map(lambda batch: tf.parse_example(batch, FEATURES)))


@case
def records_parse_batch():
    """The same, parsed one by one with two calls at once, then batched."""
    dataset = tf.data.TFRecordDataset(record_file())
    return passes(dataset.map(lambda record: tf.parse_single_example(record, FEATURES), num_parallel_calls=2).batch(128))


@case
def map_batch():
    """Small tensor math on each of 20,000 elements, then batches of 128."""
    rng = np.random.RandomState(0)
    values, labels = rng.rand(COUNT, 32).astype(np.float32), rng.randint(0, 10, COUNT)

    def prepared(x, y):
        x = (x - tf.reduce_mean(x)) * 0.5
        return tf.concat([tf.nn.relu(x), tf.tanh(x[:8])], 0), tf.one_hot(y, 10)

    return passes(tf.data.Dataset.from_tensor_slices((values, labels)).map(prepared).batch(128))


@case
def shuffle_batch_mnist():
    """60,000 pictures of 784 bytes with labels: shuffled, scaled to floats and batched."""
    rng = np.random.RandomState(0)
    pictures, labels = rng.randint(0, 256, (60000, 784)).astype(np.uint8), rng.randint(0, 10, 60000)
    dataset = tf.data.Dataset.from_tensor_slices((tf.constant(pictures), tf.constant(labels))).shuffle(10000)
    return passes(dataset.map(lambda x, y: (tf.cast(x, tf.float32) / 255.0, y)).batch(128).prefetch(1))


@case
def jpeg_resize():
    """500 JPEG files of 320 x 240, decoded, resized to 224 x 224 and batched by 32, with two calls at once."""
    rng = np.random.RandomState(0)
    sess = session()
    coarse = tf.placeholder(tf.float32, [1, 12, 16, 3])
    smooth = tf.cast(tf.image.resize_bicubic(coarse, [240, 320])[0], tf.uint8)
    file = tf.image.encode_jpeg(smooth)
    files = [sess.run(file, {coarse: rng.rand(1, 12, 16, 3) * 255}) for _ in range(500)]

    def picture(contents):
        pixels = tf.image.decode_jpeg(contents, channels=3)
        return tf.image.resize_images(pixels, [224, 224]) / 255.0

    return passes(tf.data.Dataset.from_tensor_slices(files).map(picture, num_parallel_calls=2).batch(32).prefetch(2))


@case
def queue_elements():
    """Putting 1,000 scalars one by one into a queue and taking them out again."""
    queue = tf.FIFOQueue(2000, [tf.float32], [[]])
    put, taken = queue.enqueue([tf.constant(1.0)]), queue.dequeue()
    sess = session()
    give, take = sess.make_callable(put), sess.make_callable(tf.group(taken))

    def run():
        for _ in range(1000):
            give()
        for _ in range(1000):
            take()

    return timed(run)


def with_queue_runners(op):
    """The time of 20 runs of an op while threads fill its queues."""
    sess = session()
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coordinator)
    step = sess.make_callable(op)
    found = timed(lambda: [step() for _ in range(20)], seconds=4.0)
    coordinator.request_stop()
    sess.run(tf.no_op())
    coordinator.join(threads, stop_grace_period_secs=5, ignore_live_threads=True)
    return found


@case
def queue_runners():
    """Batches of 64 made of single elements by tf.train.shuffle_batch with a thread."""
    number = tf.train.range_input_producer(1 << 20, shuffle=False, capacity=256).dequeue()
    batch = tf.group(tf.train.shuffle_batch([tf.cast(number, tf.float32), number], 64, 4096, 1024))
    return with_queue_runners(batch)


@case
def record_readers():
    """Examples read by a TFRecordReader from a queue of names, and parsed in batches of 128 by tf.train.batch with two threads."""
    names = tf.train.string_input_producer([record_file()], shuffle=False)
    _, record = tf.TFRecordReader().read(names)
    batch = tf.train.batch([record], 128, num_threads=2, capacity=1024)
    parsed = tf.group(*tf.parse_example(batch, FEATURES).values())
    return with_queue_runners(parsed)


def transforms(images, change):
    """The time of a function of pictures that are there already; only a corner of the result is fetched."""
    x = tf.Variable(images.astype(np.float32), trainable=False)
    corner = change(x)[:, :1, :1]
    sess = session()
    return timed(lambda: sess.run(corner))


@case
def resize_bilinear():
    """32 pictures of 240 x 320 to 224 x 224."""
    return transforms(np.random.RandomState(0).rand(32, 240, 320, 3), lambda x: tf.image.resize_bilinear(x, [224, 224]))


@case
def resize_bicubic():
    """8 pictures of 240 x 320 to 224 x 224."""
    return transforms(np.random.RandomState(0).rand(8, 240, 320, 3), lambda x: tf.image.resize_bicubic(x, [224, 224]))


@case
def crop_and_resize():
    """64 boxes of 8 pictures of 100 x 100 x 32, each to 14 x 14."""
    rng = np.random.RandomState(0)
    corners = rng.rand(64, 2) * 0.5
    boxes = np.concatenate([corners, corners + 0.1 + rng.rand(64, 2) * 0.4], 1).astype(np.float32)
    indices = rng.randint(0, 8, 64).astype(np.int32)
    return transforms(rng.rand(8, 100, 100, 32), lambda x: tf.image.crop_and_resize(x, tf.constant(boxes), tf.constant(indices), [14, 14]))


@case
def adjust_hue():
    """The hue of 16 pictures of 224 x 224."""
    return transforms(np.random.RandomState(0).rand(16, 224, 224, 3), lambda x: tf.image.adjust_hue(x, 0.1))
