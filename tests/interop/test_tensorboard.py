"""The real TensorBoard shows, in a browser, what Everflow wrote."""

import json
import re
import subprocess
import sys
import urllib.request

import pytest

# TensorBoard's own functions for curves and layouts are used as a program of TensorFlow 1 uses them.
WRITES = """
import sys
sys.path.append(sys.argv[2])
import numpy as np
import tensorflow as tf
from tensorboard.plugins.custom_scalar import layout_pb2, summary as custom_scalar
from tensorboard.plugins.pr_curve import summary as pr_curve
from tensorflow.contrib.tensorboard.plugins import projector

tf.set_random_seed(1)
x = tf.placeholder(tf.float32, [None, 4], name="x")
hidden = tf.layers.dense(x, 3, name="hidden")
loss = tf.reduce_mean(tf.square(hidden), name="loss_value")
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
tf.summary.scalar("loss", loss)
tf.summary.histogram("kernel", tf.trainable_variables()[0])
tf.summary.image("noise", tf.random_uniform([2, 6, 9, 3]), max_outputs=2)
pr_curve.op("found", labels=x[:, 0] > 0.5, predictions=tf.sigmoid(hidden[:, 0]), num_thresholds=11)
merged = tf.summary.merge_all()
about = tf.summary.text("about", tf.constant("a **small** model"), collections=[])
layout = layout_pb2.Layout(category=[layout_pb2.Category(title="all losses", chart=[
    layout_pb2.Chart(title="the loss", multiline=layout_pb2.MultilineChartContent(tag=["loss"]))])])
with tf.Session() as sess, tf.summary.FileWriter(sys.argv[1], sess.graph) as writer:
    sess.run(tf.global_variables_initializer())
    writer.add_summary(sess.run(about), 0)
    writer.add_summary(sess.run(custom_scalar.op(layout)), 0)
    for step in range(int(sys.argv[3])):
        writer.add_summary(sess.run([merged, train], {x: np.random.RandomState(step).rand(8, 4)})[0], step)
    np.savetxt(sys.argv[1] + "/points.tsv", np.random.RandomState(0).rand(12, 3), "%.3f", delimiter="\\t")
    config = projector.ProjectorConfig()
    config.embeddings.add(tensor_name="points", tensor_path="points.tsv")
    projector.visualize_embeddings(writer, config)
"""

# What a tab shows: a dashboard draws when its data have come, so the script waits for what is asked of it.
LOOKS = """
import json, sys
from playwright.sync_api import sync_playwright

def found(page, tab, selector, expression):
    page.goto(sys.argv[1] + "#" + tab)
    page.locator(selector).first.wait_for(state="attached", timeout=60000)
    page.wait_for_timeout(300)
    return page.locator(selector).evaluate_all("(found) => found.map((e) => " + expression + ")")

with sync_playwright() as playwright:
    chromium = playwright.chromium.launch(executable_path=sys.argv[2], args=["--no-sandbox", "--disable-gpu"])
    page = chromium.new_page(viewport={"width": 1200, "height": 1000})
    print(json.dumps({tab: found(page, tab, *asked) for tab, asked in json.loads(sys.argv[3]).items()}))
    chromium.close()
"""

STEPS = 5
CORNERS = "(e.getAttribute('d') || '').split('L').length"


@pytest.fixture
def logs(tmp_path, tensorboard_python):
    program = tmp_path / "program.py"
    program.write_text(WRITES)
    packages = (
        subprocess.run(
            [tensorboard_python, "-c", "import tensorboard; print(tensorboard.__path__[0])"], check=True, capture_output=True, text=True
        )
        .stdout.strip()
        .removesuffix("/tensorboard")
    )
    folder = tmp_path / "logs"
    subprocess.run([sys.executable, "-m", "everflow", "run", program, folder, packages, str(STEPS)], check=True)
    return folder


@pytest.fixture
def address(logs, tensorboard_python):
    command = [tensorboard_python, "-u", "-m", "tensorboard.main", "--logdir", logs, "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        told = ""
        for line in server.stderr:
            told += line
            if found := re.search(r"http://\S+", line):
                yield found.group()
                break
        else:
            pytest.fail(f"TensorBoard did not start: {told}")
    finally:
        server.terminate()
        server.wait()
        server.stderr.close()


def test_dashboards_show_what_was_written(address, browser, tensorboard_python):
    asked = {
        "scalars": ("tf-scalar-card vz-line-chart2 g.render-area path[d*=L]", CORNERS),
        "histograms": ("vz-histogram-timeseries g.histogram", "e.tagName"),
        "images": ("tf-image-loader img", "[e.naturalWidth, e.naturalHeight]"),
        "graphs": ("g.node", "e.getAttribute('data-name')"),
        "text": ("tf-text-loader tf-markdown-view strong", "e.textContent"),
        "pr_curves": ("tf-pr-curve-card vz-line-chart2 g.render-area path[d*=L]", CORNERS),
        "custom_scalars": ("tf-custom-scalar-multi-line-chart-card vz-line-chart2 g.render-area path[d*=L]", CORNERS),
    }
    command = [tensorboard_python, "-c", LOOKS, address, browser, json.dumps(asked)]
    looked = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert looked.returncode == 0, looked.stderr
    found = json.loads(looked.stdout)
    # A curve is drawn twice: as it is, and smoothed.
    assert found["scalars"] == found["custom_scalars"] == [STEPS, STEPS]
    assert len(found["histograms"]) == STEPS
    assert found["images"] == [[9, 6], [9, 6]]
    assert {"x", "hidden", "loss_value", "gradients", "GradientDescent"} <= set(found["graphs"])
    assert found["text"] == ["small"]
    assert len(found["pr_curves"]) == 1 and found["pr_curves"][0] > 2

    with urllib.request.urlopen(f"{address}data/plugin/projector/info?run=.") as answer:
        (embedding,) = json.load(answer)["embeddings"]
    assert (embedding["tensorName"], embedding["tensorShape"]) == ("points", [12, 3])
