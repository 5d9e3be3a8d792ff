"""Lines that `tf.logging` writes."""

import logging as python_logging

import pytest

from everflow.platform import logging


@pytest.fixture(autouse=True)
def verbosity():
    before = logging.get_logger().level
    yield
    logging.get_logger().setLevel(before)


def messages(caplog):
    return [(record.levelname, record.getMessage()) for record in caplog.records]


def test_verbosity_decides_what_is_shown(caplog):
    logging.set_verbosity(logging.INFO)
    logging.debug("hidden")
    logging.info("shown %d", 3)
    logging.warn("w")
    logging.vlog(logging.ERROR, "e")
    assert messages(caplog) == [("INFO", "shown 3"), ("WARNING", "w"), ("ERROR", "e")]
    assert logging.get_verbosity() == logging.INFO == 20


def test_lines_name_the_level_and_the_logger(monkeypatch, capsys):
    monkeypatch.setattr(python_logging.getLogger(), "handlers", [])
    handler = logging._CurrentStream(interactive=False)
    handler.setFormatter(python_logging.Formatter(python_logging.BASIC_FORMAT))
    monkeypatch.setattr(logging.get_logger(), "handlers", [handler])
    logging.warning("careful")
    assert capsys.readouterr().err == "WARNING:tensorflow:careful\n"


def test_counted_messages(caplog):
    logging.set_verbosity(logging.INFO)
    for i in range(5):
        logging.log_every_n(logging.INFO, "every %d", 2, i)
    for i in range(5):
        logging.log_first_n(logging.INFO, "first %d", 2, i)
    logging.log_if(logging.INFO, "never", False)
    assert [text for _, text in messages(caplog)] == ["every 0", "every 2", "every 4", "first 0", "first 1"]


def test_records_point_at_the_caller(caplog):
    logging.error("here")
    assert caplog.records[0].filename == "test_logging.py"
