"""Queues, threads and saved sessions, as first lessons show them."""

import threading

import numpy as np

import everflow as tf


def test_threads_fill_a_queue_together():
    queue = tf.FIFOQueue(capacity=50, dtypes=[tf.float32], shapes=())
    put, size = queue.enqueue(tf.random_normal(shape=())), queue.size()
    with tf.Session() as session:
        threads = [threading.Thread(target=lambda: [session.run(put) for _ in range(5)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert session.run(size) == 20


def test_a_runner_stops_when_its_coordinator_says_so():
    queue = tf.RandomShuffleQueue(capacity=10, dtypes=[tf.float32], min_after_dequeue=1, shapes=())
    runner = tf.train.QueueRunner(queue, [queue.enqueue(tf.random_normal(shape=()))] * 3)
    with tf.Session() as session:
        coordinator = tf.train.Coordinator()
        threads = runner.create_threads(session, coord=coordinator, start=True)
        assert session.run(queue.dequeue_many(4)).shape == (4,)
        coordinator.request_stop()
        session.run(queue.close(cancel_pending_enqueues=True))
        coordinator.join(threads)


def test_examples_written_come_back_in_shuffled_batches(tmp_path):
    path = str(tmp_path / "train.tfrecords")
    with tf.python_io.TFRecordWriter(path) as writer:
        for label in range(6):
            image = np.full((2, 2), label, np.uint8).tobytes()
            writer.write(
                tf.train.Example(
                    features=tf.train.Features(
                        feature={
                            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
                            "raw": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image])),
                        }
                    )
                ).SerializeToString()
            )
    _, record = tf.TFRecordReader().read(tf.train.string_input_producer([path], num_epochs=1))
    parsed = tf.parse_single_example(record, {"label": tf.FixedLenFeature([], tf.int64), "raw": tf.FixedLenFeature([], tf.string)})
    image = tf.decode_raw(parsed["raw"], tf.uint8)
    image.set_shape([4])
    images, labels = tf.train.shuffle_batch([image, parsed["label"]], batch_size=3, capacity=10, min_after_dequeue=2)
    seen = []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        for _ in range(2):
            pixels, found = session.run([images, labels])
            assert (pixels == found[:, None]).all()
            seen += found.tolist()
        coordinator.request_stop()
        coordinator.join(threads)
    assert sorted(seen) == list(range(6))


def test_a_collection_leads_into_an_imported_meta_graph(tmp_path):
    prefix = str(tmp_path / "model")
    x = tf.placeholder(tf.float32, [], name="x")
    weight = tf.Variable(3.0)
    for member in (x, weight * x):
        tf.add_to_collection("ends", member)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.train.Saver(max_to_keep=7).save(session, prefix, global_step=1000)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(prefix + "-1000.meta").restore(session, prefix + "-1000")
        first, last = tf.get_collection("ends")
        assert session.run(last, {first: 2.0}) == 6
