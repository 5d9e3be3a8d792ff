"""A training that is killed goes on from its last checkpoint, whenever the kill came."""

import json
import subprocess
import sys

# One process that has everything imported makes the trainings as its copies, so that twenty of them take seconds.
KILLS_AND_RESTARTS = """
import json, os, random, signal, sys, time
import everflow as tf

folder, kills, last_step = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
tf.logging.set_verbosity(tf.logging.ERROR)


def train(folder, last_step, tell):
    step = tf.train.get_or_create_global_step()
    weight = tf.get_variable("weight", [100], initializer=tf.zeros_initializer())
    # The weight is what the steps add up to, so a step that is lost or done twice shows.
    update = tf.assign_add(weight, tf.fill([100], tf.cast(step, tf.float32)))
    with tf.control_dependencies([update]):
        update = tf.assign_add(step, 1)
    hooks = [tf.train.StopAtStepHook(last_step=last_step)]
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks, save_checkpoint_steps=3, save_summaries_steps=5,
                                           save_checkpoint_secs=None) as sess:
        first, values = sess.run_step_fn(lambda step_context: step_context.session.run([step, weight]))
        tell(json.dumps({"first": int(first), "weight": float(values.max()), "even": bool((values == values[0]).all())}))
        while not sess.should_stop():
            sess.run(update)
            tell(".")


def saved():
    path = tf.train.latest_checkpoint(folder)
    return int(tf.train.load_variable(path, "global_step")) if path else 0


def started(steps_until_kill):
    # What a training told when it began, and how it ended.
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with os.fdopen(writable, "w", buffering=1) as out:
                train(folder, last_step, lambda text: print(text, file=out))
            status = 0
        finally:
            os._exit(status)
    os.close(writable)
    with os.fdopen(readable) as reports:
        told = json.loads(reports.readline())
        if steps_until_kill is not None:
            for _ in range(steps_until_kill):
                reports.readline()
            time.sleep(random.random() * 0.005)
            os.kill(child, signal.SIGKILL)
        for _ in reports:
            pass
    return told, os.waitpid(child, 0)[1]


with tf.Graph().as_default():
    train(folder + "/first", 6, lambda text: None)
tf.summary.FileWriterCache.clear()

found = []
for attempt in range(kills + 1):
    before = saved()
    told, status = started(None if attempt == kills else random.randrange(10))
    found.append({**told, "before": before, "after": saved(), "status": status})
print(json.dumps(found))
"""


def test_twenty_kills_at_random_lose_no_step(tmp_path):
    kills, last_step = 20, 200
    done = subprocess.run([sys.executable, "-c", KILLS_AND_RESTARTS, tmp_path, str(kills), str(last_step)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *killed, last = attempts = json.loads(done.stdout)
    for attempt in attempts:
        assert attempt["first"] == attempt["before"]
        assert attempt["even"] and attempt["weight"] == sum(range(attempt["first"]))
    assert len(killed) == kills
    assert 0 < last["first"] < last_step
    assert (last["status"], last["after"]) == (0, last_step)
