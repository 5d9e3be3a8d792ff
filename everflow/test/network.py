"""A link between two tasks that can be cut and healed, as networks are."""

from __future__ import annotations

import contextlib
import select
import socket
import threading


class Link:
    """Forwards connections to an address. `Link("localhost:2222").address` is what the other side connects to.

    A silent cut holds back what is sent, and nobody is told: packets that are lost on the way, and sent again when the network is back.
    A loud one ends all connections and takes no new ones, as a machine does that is turned off.
    """

    def __init__(self, target: str) -> None:
        host, _, port = target.rpartition(":")
        self._target = host, int(port)
        self._open = threading.Event()
        self._open.set()
        self._is_over = False
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._lock = threading.Lock()
        self._listener = self._listening(0)
        self.port = self._listener.getsockname()[1]
        self.address = f"localhost:{self.port}"
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def cut(self, is_loud: bool = False) -> None:
        """Cuts the link."""
        self._open.clear()
        if is_loud:
            _closed(self._listener)
            with self._lock:
                ended, self._pairs = self._pairs, []
            for one in (end for pair in ended for end in pair):
                _closed(one)

    def heal(self) -> None:
        """What was held back goes on, and new connections are taken."""
        if self._listener.fileno() < 0:
            self._listener = self._listening(self.port)
            threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()
        self._open.set()

    def close(self) -> None:
        """Ends the link for good."""
        self._is_over = True
        self.cut(is_loud=True)
        self._open.set()

    def _listening(self, port: int) -> socket.socket:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("localhost", port))
        listener.listen()
        return listener

    def _accept(self, listener: socket.socket) -> None:
        while not self._is_over:
            try:
                near, _ = listener.accept()
                far = socket.create_connection(self._target)
            except OSError:
                if listener.fileno() < 0:
                    return
                continue
            with self._lock:
                self._pairs.append((near, far))
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._forward, args=(source, sink), daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError):
            while select.select([source], [], []) and (data := source.recv(1 << 16)):
                self._open.wait()
                sink.sendall(data)
        for end in (source, sink):
            _closed(end)


def _closed(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
