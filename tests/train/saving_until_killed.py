"""`python saving_until_killed.py ROUNDS SEED`: kills a process that saves in a loop, again and again, and loads what it left.

All variables of a checkpoint hold the number of the save that wrote them, so that a mixture of two saves shows.
"""

import os
import random
import shutil
import signal
import sys
import tempfile
import time

import everflow as tf

VARIABLES = 6


class Model:
    """Variables that are set together, and how they are saved."""

    def __init__(self, how, folder):
        self.folder = folder
        self.graph = tf.Graph()
        with self.graph.as_default():
            variables = [
                tf.get_variable(f"v{i}", [7000 * (i + 1)], tf.float64, tf.zeros_initializer(), use_resource=i % 2 == 0)
                for i in range(VARIABLES)
            ]
            self.number = tf.placeholder(tf.float64, [])
            self.set_all = tf.group(*[v.assign(tf.fill(v.shape, self.number)) for v in variables])
            self.saver = tf.train.Saver(max_to_keep=2, sharded=how == "sharded")
            self.sess = tf.Session()
        self.numbered = how == "numbered"

    def save(self, number):
        with self.graph.as_default():
            self.sess.run(self.set_all, {self.number: number})
            self.saver.save(self.sess, os.path.join(self.folder, "model"), global_step=number if self.numbered else None)


def save_for_ever(model, number, started):
    os.write(started, b"!")
    while True:
        number += 1
        model.save(number)


def loaded(folder):
    """The number in the latest checkpoint; 0 where there is none."""
    latest = tf.train.latest_checkpoint(folder)
    if latest is None:
        assert not os.path.exists(os.path.join(folder, "checkpoint")), "the state file names a checkpoint that is not there"
        return 0
    reader = tf.train.load_checkpoint(latest)
    found = {float(n) for name in reader.get_variable_to_shape_map() for n in set(reader.get_tensor(name).tolist())}
    assert len(reader.get_variable_to_shape_map()) == VARIABLES and len(found) == 1, f"a mixture of saves: {found}"
    assert os.path.exists(latest + ".meta")
    return int(found.pop())


def main(rounds, seed):
    chance = random.Random(seed)
    top = tempfile.mkdtemp()
    models = [Model(how, os.path.join(top, how)) for how in ("numbered", "one name", "sharded")]
    for model in models:
        os.mkdir(model.folder)
        for number in range(1, 4):
            start = time.perf_counter()
            model.save(number)
            model.seconds = time.perf_counter() - start
    running, started = os.pipe()
    start = time.perf_counter()
    saves = 0
    for i in range(rounds):
        model = models[i % len(models)]
        before = loaded(model.folder)
        child = os.fork()
        if not child:
            save_for_ever(model, before, started)
        os.read(running, 1)
        time.sleep(chance.uniform(0, 3 * model.seconds))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        after = loaded(model.folder)
        assert after >= before, f"round {i}: {after} after {before}"
        saves += after - before
    assert saves > rounds / 4, "the process was killed before it did anything"
    shutil.rmtree(top)
    print(f"{rounds} kills, {saves} saves, {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
