"""The wire protocol: gRPC as others speak it, peers who don't, and processes that come and go."""

import contextlib
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from concurrent import futures

import numpy as np
import pytest
from tasks import ROOT

import everflow as tf
from everflow.distribute.listener import Listener
from everflow.distribute.wire import Method, channel
from everflow.platform.ports import free_ports

grpc = pytest.importorskip("grpc")

UNLIMITED = (("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1))
SIZES = (0, 1, 16_379, 65_536, 20_000_000)
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS, PADDED, HAS_PRIORITY = 1, 4, 8, 0x20


class Slow:
    """Answers when it is told to, and knows when its caller has left."""

    def __init__(self):
        self.begun, self.left, self.go_on = threading.Event(), threading.Event(), threading.Event()

    def __call__(self, request, call):
        call.on_leave(self._leave)
        self.begun.set()
        self.go_on.wait(60)
        return b"late"

    def _leave(self):
        self.left.set()
        self.go_on.set()


def fail(request, call):
    raise ValueError("Käse: 100% " + "x" * 30_000)


@pytest.fixture
def slow():
    found = Slow()
    yield found
    found.go_on.set()


@pytest.fixture
def port(slow):
    """A server of ours."""
    listener = Listener()
    listener.add("/echo", lambda request, call: request)
    listener.add("/fail", fail)
    listener.add("/slow", slow)
    # What the example of RFC 7541, C.4.3 spells.
    listener.add("custom-value", lambda request, call: b"read")
    found = listener.bind("0.0.0.0:0")
    listener.start()
    return found


@pytest.fixture
def theirs(port):
    """The way of another gRPC to our server."""
    with grpc.insecure_channel(f"localhost:{port}", options=UNLIMITED) as found:
        yield found


def test_other_clients_are_answered(theirs):
    echo = theirs.unary_unary("/echo")
    assert all(echo(bytes([i]) * size) == bytes([i]) * size for i, size in enumerate(SIZES))
    with futures.ThreadPoolExecutor(16) as callers:
        requests = [b"%d" % i * i for i in range(400)]
        assert list(callers.map(echo, requests)) == requests


def test_other_clients_are_told_what_went_wrong(theirs):
    with pytest.raises(grpc.RpcError) as caught:
        theirs.unary_unary("/nothing")(b"")
    assert (caught.value.code(), caught.value.details()) == (grpc.StatusCode.UNIMPLEMENTED, "Method not found!")
    # As much of a text as they take.
    with pytest.raises(grpc.RpcError) as caught:
        theirs.unary_unary("/fail")(b"")
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert caught.value.details().startswith("Käse: 100% xxx")


def test_messages_are_not_taken_when_they_are_compressed(theirs):
    with pytest.raises(grpc.RpcError) as caught:
        theirs.unary_unary("/echo")(b"x" * 10_000, compression=grpc.Compression.Gzip)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_other_clients_may_leave(theirs, slow):
    call = theirs.unary_unary("/slow").future(b"")
    assert slow.begun.wait(60)
    call.cancel()
    assert slow.left.wait(60)


class Theirs(grpc.GenericRpcHandler):
    """What another gRPC answers."""

    def __init__(self):
        self.left = threading.Event()
        self.limits = []

    def service(self, details):
        answer = {"/echo": lambda request, context: request, "/abort": self.abort, "/slow": self.slow}.get(details.method)
        return None if answer is None else grpc.unary_unary_rpc_method_handler(answer)

    def abort(self, request, context):
        self.limits.append(context.time_remaining())
        context.abort(grpc.StatusCode.NOT_FOUND, "Käse: 100%")

    def slow(self, request, context):
        context.add_callback(self.left.set)
        self.left.wait(60)
        return b""


@pytest.fixture
def handler():
    return Theirs()


@pytest.fixture
def their_server(handler):
    """A server of another gRPC, and the way to it."""
    server = grpc.server(futures.ThreadPoolExecutor(8), handlers=(handler,), options=UNLIMITED)
    port = server.add_insecure_port("localhost:0")
    server.start()
    yield server, channel(f"localhost:{port}")
    server.stop(0).wait()
    channel.cache_clear()


def test_other_servers_are_called(their_server):
    echo = Method(their_server[1], "/echo")
    assert all(echo(bytes([i]) * size) == bytes([i]) * size for i, size in enumerate(SIZES))
    assert echo([b"a", memoryview(b"bc"), b"", bytearray(b"d")]) == b"abcd"
    with futures.ThreadPoolExecutor(16) as callers:
        requests = [b"%d" % i * i for i in range(400)]
        assert list(callers.map(echo, requests)) == requests


def test_what_other_servers_say_is_raised(their_server, handler):
    with pytest.raises(tf.errors.NotFoundError, match="Käse: 100%"):
        Method(their_server[1], "/abort")(b"", timeout=100)
    assert 90 < handler.limits[0] <= 100
    with pytest.raises(tf.errors.UnimplementedError):
        Method(their_server[1], "/nothing")(b"")


def test_other_servers_are_told_when_we_leave(their_server, handler):
    began = time.monotonic()
    with pytest.raises(tf.errors.DeadlineExceededError, match="Deadline Exceeded"):
        Method(their_server[1], "/slow")(b"", timeout=0.2)
    assert time.monotonic() - began < 30
    assert handler.left.wait(60)


def test_a_server_that_stops_is_unavailable_and_found_again_when_it_is_back(their_server):
    server, way = their_server
    echo = Method(way, "/echo")
    assert echo(b"a") == b"a"
    server.stop(0).wait()
    with pytest.raises(tf.errors.UnavailableError, match="failed to connect|Socket closed|[Cc]onnection reset|GOAWAY"):
        echo(b"b")


def test_a_call_may_wait_for_its_server():
    port = free_ports(1)[0]
    listener = Listener()
    listener.add("/echo", lambda request, call: request)

    def begin():
        listener.bind(f"localhost:{port}")
        listener.start()

    echo = Method(channel(f"localhost:{port}"), "/echo")
    with pytest.raises(tf.errors.UnavailableError, match="failed to connect to all addresses"):
        echo(b"")
    with pytest.raises(tf.errors.DeadlineExceededError):
        echo(b"", 0.3, waits=True)
    threading.Timer(0.5, begin).start()
    assert echo(b"there", 60, waits=True) == b"there"


def test_begun_calls_are_cancelled_by_other_threads(port, slow):
    call = Method(channel(f"localhost:{port}"), "/slow").begin(b"")
    assert slow.begun.wait(60)
    threading.Timer(0.2, call.cancel).start()
    with pytest.raises(tf.errors.CancelledError, match="slow was cancelled"):
        call.result()
    assert slow.left.wait(60)


def test_a_call_does_not_wait_for_those_before_it(port, slow):
    way = channel(f"localhost:{port}")
    waiting = [Method(way, "/slow").begin(b"") for _ in range(10)]
    assert Method(way, "/echo")(b"at once") == b"at once"
    over = threading.Semaphore(0)
    for call in waiting:
        call.then(lambda call: over.release())
    assert Method(way, "/echo")(b"at once") == b"at once"
    slow.go_on.set()
    assert all(over.acquire(timeout=60) for _ in waiting)
    assert all(call.result() == b"late" for call in waiting)


def test_memory_that_came_may_be_written_and_ends_on_a_boundary(port):
    found = Method(channel(f"localhost:{port}"), "/echo")(b"x" * 1001)
    array = np.frombuffer(found, np.uint8)
    assert array.flags.writeable
    assert (array.ctypes.data + 1001) % 64 == 0


@pytest.mark.skipif(not socket.has_ipv6, reason="there is no IPv6")
def test_addresses_of_both_protocols_are_reached(port):
    for host in ("127.0.0.1", "localhost", "[::1]"):
        try:
            assert Method(channel(f"{host}:{port}"), "/echo")(b"a") == b"a"
        except tf.errors.UnavailableError:
            # Not every machine that knows of IPv6 has an address of it.
            assert host == "[::1]"


def test_a_port_in_use_is_an_error(port):
    with pytest.raises(tf.errors.UnknownError, match="Could not start gRPC server"):
        Listener().bind(f"0.0.0.0:{port}")


def test_a_host_that_nobody_knows_is_unavailable():
    with pytest.raises(tf.errors.UnavailableError, match="DNS resolution failed for nobody.invalid:1"):
        Method(channel("nobody.invalid:1"), "/echo")(b"")


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


class Peer:
    """A client that writes frames by hand."""

    def __init__(self, port):
        self.socket = socket.create_connection(("localhost", port), timeout=60)
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0))
        self._read = b""

    def _bytes(self, count):
        while len(self._read) < count:
            more = self.socket.recv(1 << 16)
            if not more:
                raise EOFError
            self._read += more
        found, self._read = self._read[:count], self._read[count:]
        return found

    def next(self, *kinds):
        """The next frame of these kinds: its kind, flags, stream and payload."""
        while True:
            head = self._bytes(9)
            payload = self._bytes(int.from_bytes(head[:3], "big"))
            if head[3] in kinds:
                return head[3], head[4], int.from_bytes(head[5:], "big"), payload


@pytest.fixture
def peer(port):
    found = Peer(port)
    yield found
    found.socket.close()


def literal(name, value):
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


# POST and http by number, `:path` and its value as text.
ECHO = b"\x83\x86" + literal(b":path", b"/echo")
MESSAGE = b"\0\0\0\0\x02hi"


def test_headers_come_in_pieces_and_data_with_padding(peer):
    padded = b"\x04" + b"\0\0\0\0\x01" + ECHO[:3] + b"\0" * 4
    peer.socket.sendall(frame(HEADERS, PADDED | HAS_PRIORITY, 1, padded))
    for byte in ECHO[3:-1]:
        peer.socket.sendall(frame(CONTINUATION, 0, 1, bytes([byte])))
    peer.socket.sendall(frame(CONTINUATION, END_HEADERS, 1, ECHO[-1:]))
    peer.socket.sendall(frame(DATA, PADDED, 1, b"\x03" + MESSAGE[:3] + b"\0" * 3) + frame(99, 0, 7, b"unknown"))
    for byte in MESSAGE[3:]:
        for part in frame(DATA, 0, 1, bytes([byte])):
            peer.socket.sendall(bytes([part]))
    peer.socket.sendall(frame(DATA, END_STREAM | PADDED, 1, b"\x01\0"))
    assert peer.next(DATA)[2:] == (1, MESSAGE)
    _, flags, _, trailers = peer.next(HEADERS)
    assert flags & END_STREAM
    assert literal(b"grpc-status", b"0") in trailers


def test_headers_are_read_in_huffmans_code_and_from_the_table(peer):
    path = bytes.fromhex("44 89 25a8 49e9 5bb8 e8b4 bf")
    peer.socket.sendall(frame(HEADERS, END_HEADERS, 1, b"\x83\x86" + path) + frame(DATA, END_STREAM, 1, MESSAGE))
    assert peer.next(DATA)[3] == b"\0\0\0\0\x04read"
    # It is the first of the headers that were to be remembered.
    peer.socket.sendall(frame(HEADERS, END_HEADERS, 3, b"\x83\x86\xbe") + frame(DATA, END_STREAM, 3, MESSAGE))
    assert peer.next(DATA)[2:] == (3, b"\0\0\0\0\x04read")
    # A table that was emptied has nothing.
    peer.socket.sendall(frame(HEADERS, END_HEADERS, 5, b"\x20\x83\x86\xbe"))
    assert peer.next(GOAWAY)[3][4:] == struct.pack(">I", 9)


def test_pings_are_answered(peer):
    peer.socket.sendall(frame(PING, 0, 0, b"12345678"))
    assert peer.next(PING) == (PING, 1, 0, b"12345678")


def test_answers_wait_for_room_in_the_windows(peer):
    # Settings say how much each stream takes at first.
    peer.socket.sendall(frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 3)))
    peer.socket.sendall(frame(HEADERS, END_HEADERS, 1, ECHO) + frame(DATA, END_STREAM, 1, MESSAGE))
    assert peer.next(DATA)[3] == MESSAGE[:3]
    peer.socket.sendall(frame(WINDOW_UPDATE, 0, 1, struct.pack(">I", 1)))
    assert peer.next(DATA)[3] == MESSAGE[3:4]
    peer.socket.sendall(frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 100)))
    assert peer.next(DATA)[3] == MESSAGE[4:]


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        PREFACE + frame(DATA, 0, 0, b"of no stream"),
        PREFACE + frame(DATA, PADDED, 1, b"\xff"),
        PREFACE + frame(HEADERS, END_HEADERS, 1, b"\xff\xff\xff\xff\xff\xff"),
        PREFACE + frame(HEADERS, END_HEADERS, 2, ECHO),
        PREFACE + frame(HEADERS, 0, 1, ECHO) + frame(DATA, 0, 1, MESSAGE),
        PREFACE + frame(SETTINGS, 0, 0, b"12345"),
        PREFACE + frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 1 << 31)),
        PREFACE + frame(SETTINGS, 0, 0, struct.pack(">HI", 5, 1)),
        PREFACE + frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", (1 << 31) - 1)),
        PREFACE + frame(PING, 0, 0, b"short"),
    ],
)
def test_who_breaks_the_rules_is_sent_away(port, sent):
    with socket.create_connection(("localhost", port), timeout=60) as peer:
        peer.sendall(sent)
        while peer.recv(1 << 16):
            pass
    assert Method(channel(f"localhost:{port}"), "/echo")(b"others stay") == b"others stay"


def test_no_noise_ends_the_server(port):
    noise = random.Random(0)
    for i in range(150):
        with socket.create_connection(("localhost", port), timeout=60) as peer:
            frames = b"".join(
                frame(noise.randrange(12), noise.randrange(256), noise.randrange(6), noise.randbytes(noise.randrange(40)))
                for _ in range(noise.randrange(1, 20))
            )
            broken = bytearray(frame(HEADERS, END_HEADERS, 1, ECHO) + frame(DATA, END_STREAM, 1, MESSAGE))
            broken[noise.randrange(len(broken))] ^= 1 << noise.randrange(8)
            peer.sendall(PREFACE + (frames if i % 2 else bytes(broken)))
            if i % 3:
                peer.shutdown(socket.SHUT_WR)
    assert Method(channel(f"localhost:{port}"), "/echo")(b"still there") == b"still there"


def test_no_noise_ends_the_client():
    noise = random.Random(1)
    with socket.create_server(("localhost", 0)) as listening:
        echo = Method(channel(f"localhost:{listening.getsockname()[1]}"), "/echo")

        def answer():
            for _ in range(40):
                peer, _ = listening.accept()
                with peer, contextlib.suppress(OSError):
                    peer.sendall(frame(SETTINGS, 0, 0))
                    peer.recv(1 << 16)
                    for _ in range(8):
                        kind, flags, stream = noise.randrange(10), noise.randrange(256), noise.choice((0, 1, 1, 1, 3))
                        peer.sendall(frame(kind, flags, stream, noise.randbytes(noise.randrange(60))))

        thread = threading.Thread(target=answer)
        thread.start()
        for _ in range(1000):
            # Some of the noise may be an answer.
            with contextlib.suppress(tf.errors.OpError):
                echo(b"a", timeout=5, waits=True)
            if not thread.is_alive():
                break
        assert not thread.is_alive()


def run(program, *arguments):
    environment = {**os.environ, "PYTHONPATH": ROOT, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)], stdout=subprocess.PIPE, text=True, env=environment)


FORKS = """
import os, sys
from everflow.distribute.listener import Listener
from everflow.distribute.wire import Method, channel
own = Listener()
own.add("/own", lambda request, call: b"own")
at = own.bind("localhost:0")
own.start()
echo, mine = Method(channel(sys.argv[1]), "/echo"), Method(channel(f"localhost:{at}"), "/own")
assert echo(b"before") == b"before" and mine(b"") == b"own"
if child := os.fork():
    assert echo(b"parent") == b"parent"
    assert os.waitpid(child, 0)[1] == 0
    assert echo(b"after") == b"after" and mine(b"") == b"own"
    print("over")
else:
    assert echo(b"child") == b"child" and mine(b"") == b"own"
    os._exit(0)
"""


def test_a_process_that_forks_has_calls_in_both(port):
    process = run(FORKS, f"localhost:{port}")
    assert process.communicate(timeout=120)[0] == "over\n"
    assert process.returncode == 0


ENDS = """
import sys, threading, time
from everflow.distribute.listener import Listener
from everflow.distribute.wire import Method, channel
listener = Listener()
listener.add("/never", lambda request, call: time.sleep(1000))
listener.add("/echo", lambda request, call: request)
way = channel(f"localhost:{listener.bind('localhost:0')}")
listener.start()
def busy():
    while True:
        Method(way, "/echo")(b"x" * 100_000)
for path in ("/never", "/never", "/never"):
    threading.Thread(target=Method(way, path), args=(b"",), daemon=True).start()
for _ in range(4):
    threading.Thread(target=busy, daemon=True).start()
time.sleep(0.5)
print("over", flush=True)
"""


def test_a_program_ends_while_its_daemons_call_and_are_called():
    for _ in range(3):
        process = run(ENDS)
        assert process.communicate(timeout=120)[0] == "over\n"
        assert process.returncode == 0


INTERRUPTED = """
import sys
from everflow.distribute.wire import Method, channel
slow = Method(channel(sys.argv[1]), "/slow")
print("ready", flush=True)
try:
    slow(b"")
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_a_call_is_interrupted_from_the_keyboard(port, slow):
    process = run(INTERRUPTED, f"localhost:{port}")
    assert process.stdout.readline() == "ready\n"
    assert slow.begun.wait(60)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "interrupted\n"
    assert slow.left.wait(60)
