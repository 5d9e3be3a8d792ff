import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

from everflow.cli.launch import Task, progress

ROOT = str(pathlib.Path(__file__).parents[2])


def launch(tmp_path, program, *arguments, options=("--ps", "1", "--workers", "2")):
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(program))
    return subprocess.run(
        [sys.executable, "-m", "everflow", "launch", *options, script, *arguments],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "PYTHONPATH": ROOT, "OMP_NUM_THREADS": "1"},
    )


def test_tasks_find_the_cluster_in_their_environment_and_flags(tmp_path):
    done = launch(
        tmp_path,
        """
        import json, os, sys, time
        config = json.loads(os.environ["TF_CONFIG"])
        flags = dict(a[2:].split("=") for a in sys.argv[1:] if a.startswith("--"))
        # The names stand here as programs write them: "job_name", "task_index", "ps_hosts"; one is not asked for.
        task = config["task"]
        assert (flags["job_name"], int(flags["task_index"])) == (task["type"], task["index"])
        assert flags["ps_hosts"].split(",") == config["cluster"]["ps"]
        assert "worker_" + "hosts" not in flags
        assert flags["other"] == "/".join([task["type"], ",".join(config["cluster"]["worker"])])
        print("steps:", flags["steps"])
        if task["type"] == "ps":
            time.sleep(1000)
        """,
        "--steps=7",
        "--other={job_name}/{worker_hosts}",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(line for line in done.stdout.splitlines() if "worker" in line) == ["[worker 0] steps: 7", "[worker 1] steps: 7"]


def test_all_end_when_one_fails(tmp_path):
    done = launch(
        tmp_path,
        """
        import json, os, sys, time
        task = json.loads(os.environ["TF_CONFIG"])["task"]
        if task == {"type": "worker", "index": 1}:
            print("no data")
            sys.exit(3)
        time.sleep(1000)
        """,
    )
    assert done.returncode == 3
    assert "[worker 1] no data" in done.stdout
    assert "worker 1 failed with exit status 3; ending the others" in done.stderr


def test_a_program_of_the_field_trains(tmp_path):
    done = launch(
        tmp_path,
        """
        import numpy as np
        import tensorflow as tf
        tf.app.flags.DEFINE_string("ps_hosts", "", "")
        tf.app.flags.DEFINE_string("worker_hosts", "", "")
        tf.app.flags.DEFINE_string("job_name", "", "")
        tf.app.flags.DEFINE_integer("task_index", 0, "")
        FLAGS = tf.app.flags.FLAGS

        def main(_):
            cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")})
            server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
            if FLAGS.job_name == "ps":
                server.join()
            with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % FLAGS.task_index, cluster=cluster)):
                x = tf.constant(np.eye(3), tf.float32)
                w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
                loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - [[1.0], [2.0], [3.0]]))
                step = tf.train.get_or_create_global_step()
                train = tf.train.GradientDescentOptimizer(0.5).minimize(loss, global_step=step)
            hooks = [tf.train.StopAtStepHook(last_step=60)]
            config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:%d" % FLAGS.task_index])
            with tf.train.MonitoredTrainingSession(
                master=server.target, is_chief=FLAGS.task_index == 0, hooks=hooks, config=config
            ) as session:
                while not session.should_stop():
                    _, value, at = session.run([train, loss, step])
            print("step %d loss %.4f" % (at, value))

        tf.app.run()
        """,
        # A second worker may have to wait half a minute before it looks again whether the chief is ready.
        options=("--ps", "1", "--workers", "1"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    ends = [line for line in done.stdout.splitlines() if "loss" in line]
    assert sorted(line[:10] for line in ends) == ["[worker 0]"]
    assert all(float(line.split()[-1]) < 0.2 for line in ends)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--workers", "0", "train.py"], "needs a worker or a chief"),
        (["--ps", "-1", "train.py"], "--ps can't be less than 0"),
        (["nowhere.py"], "there is no file nowhere.py"),
    ],
)
def test_launches_that_cannot_be(arguments, message, capsys):
    from everflow.cli.launch import main

    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_progress_is_one_line():
    seen = {Task("worker", 0): {"step": "120", "loss": "0.5"}, Task("worker", 1): {"step": "118"}}
    assert progress(seen, 75.2) == "1:15  worker 0 step 120 loss 0.5 · worker 1 step 118"
