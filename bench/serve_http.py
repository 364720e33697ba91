"""Requests as bytes and answers as they come, over a connection that is kept: as little as a client can do."""

from __future__ import annotations

import socket

HOST = "127.0.0.1"
WAIT_SECONDS = 30.0
PIECE = 1 << 18
ACCEPT = "text/markdown"

Pairs = list[tuple[str, str]]


def connected(port: int) -> socket.socket:
    """Return a connection to a server of this machine."""
    line = socket.create_connection((HOST, port), timeout=WAIT_SECONDS)
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return line


def request_of(path: str, accept: str, port: int, tag: str = "") -> bytes:
    """Return a request as a client sends it; with ``tag`` one for what it has already."""
    known = f"If-None-Match: {tag}\r\n" if tag else ""
    said = f"Host: {HOST}:{port}\r\nUser-Agent: bench/1\r\nAccept: {accept}\r\n{known}"
    return f"GET {path} HTTP/1.1\r\n{said}\r\n".encode("latin-1")


def answered(line: socket.socket, request: bytes) -> tuple[Pairs, bytes]:
    """Return the headers and the body of an answer, without the date. Ends the program where it is no 200."""
    head, _, body = whole_answer(line, request).partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    if " 200 " not in f"{first} ":
        raise SystemExit(f"expected 200, found {first} for {request[:200]!r}")
    pairs = [(name, value) for name, _, value in (each.partition(": ") for each in lines)]
    return [each for each in pairs if each[0].lower() != "date"], body


def whole_answer(line: socket.socket, request: bytes) -> bytes:
    """Return every byte of an answer."""
    line.sendall(request)
    got = b""
    while b"\r\n\r\n" not in got:
        got += piece_of(line)
    head = got.partition(b"\r\n\r\n")[0].lower()
    length = len(head) + 4
    if not head.startswith(b"http/1.1 304"):
        length += next(int(each[15:]) for each in head.split(b"\r\n") if each.startswith(b"content-length:"))
    while len(got) < length:
        got += piece_of(line)
    return got


def piece_of(line: socket.socket) -> bytes:
    """Return what came last. Ends the program where the server closed the connection."""
    piece = line.recv(PIECE)
    if not piece:
        raise SystemExit("the server closed a connection")
    return piece
