"""A small MCP server over stdio that misbehaves on request. Speaks JSON lines by hand and needs no package.

Usage: odd.py [MODE…]. A mode changes how it starts or lists; its tools do the rest.
"""

import json
import os
import signal
import sys
import threading
import time

MODES = set(sys.argv[1:])
VALUES = dict(mode.split("=", 1) for mode in MODES if "=" in mode)
LOCK = threading.Lock()
CANCELLED = []
MEETING = threading.Barrier(8, timeout=60)


def send(message):
    write(json.dumps({"jsonrpc": "2.0", **message}).encode())


def write(line):
    with LOCK:
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()


def text(value, **more):
    return {"content": [{"type": "text", "text": value}], **more}


def spawn(arguments):
    import subprocess  # a third of the start of every odd server otherwise

    process = subprocess.Popen(["sleep", f"987.{os.getppid()}"], start_new_session=arguments.get("detached", False))
    return text(str(process.pid))


def crash(arguments):
    print("the disk is full", file=sys.stderr, flush=True)
    os._exit(arguments.get("status", 3))


def leave(arguments):
    threading.Timer(0.05, os._exit, [0]).start()
    return text("bye")


BLOCKS = [
    {"type": "text", "text": "words"},
    {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
    {"type": "audio", "data": "aGVsbG8h", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "file:///a.txt", "name": "a", "mimeType": "text/plain", "size": 7},
    {"type": "resource", "resource": {"uri": "file:///b.txt", "mimeType": "text/plain", "text": "inside"}},
    {"type": "resource", "resource": {"uri": "file:///c.bin", "blob": "aGVsbG8="}},
]
TOOLS = {
    "echo": lambda arguments: text(json.dumps(arguments)),
    "pid": lambda arguments: text(str(os.getpid())),
    "env": lambda arguments: text(json.dumps(dict(os.environ))),
    "cwd": lambda arguments: text(os.getcwd()),
    "crash": crash,
    "hang": lambda arguments: time.sleep(600),
    "sleep": lambda arguments: time.sleep(arguments["seconds"]) or text("slept"),
    "huge": lambda arguments: text("x" * arguments["bytes"]),
    "fail": lambda arguments: text("no such row", isError=True),
    "spawn": spawn,
    "leave": leave,
    "blocks": lambda arguments: {"content": BLOCKS},
    "structured": lambda arguments: {"content": [], "structuredContent": {"answer": 42, "ß": "é"}},
    "broken-promise": lambda arguments: {"content": [], "structuredContent": {"answer": "not a number"}},
    "malformed": lambda arguments: {"content": "not a list"},
    "meet": lambda arguments: text("met" if MEETING.wait() >= 0 else ""),
    "cancelled": lambda arguments: text(json.dumps(CANCELLED)),
}


def call(request):
    name, arguments = request["params"]["name"], request["params"].get("arguments") or {}
    if name == "busy":
        send({"id": request["id"], "error": {"code": -32000, "message": "the database is busy"}})
    elif name == "half-pair":
        write(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"cut \\ud83d"}]}}' % request["id"])
    elif name == "id-last":
        body = b'{"result":{"content":[{"type":"text","text":"' + b"x" * arguments["bytes"]
        write(body + b'"}]},"jsonrpc":"2.0","id":%d}' % request["id"])
    elif name == "deep":
        depth = arguments["depth"]
        nested = b'{"a":' * depth + b"1" + b"}" * depth
        write(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[],"structuredContent":%b}}' % (request["id"], nested))
    elif name == "half-line":
        write(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"te' % request["id"])
    else:
        send({"id": request["id"], "result": TOOLS[name](arguments)})


def listing(cursor):
    names = [*TOOLS, "busy", "half-pair", "id-last", "deep", "half-line"]
    tools = [{"name": name, "description": f"does {name}", "inputSchema": {"type": "object"}} for name in names]
    if "endless" in MODES:
        return {"tools": tools[:1], "nextCursor": str(int(cursor or 0) + 1)}
    if "paged" in MODES:
        start = int(cursor or 0)
        more = {"nextCursor": str(start + 5)} if start + 5 < len(tools) else {}
        return {"tools": tools[start : start + 5], **more}
    if "bad-tools" in MODES:
        tools += [
            {"name": "no-schema"},
            {"name": "no-type", "inputSchema": {"properties": {"a": True}}},
            {"name": "wrong-type", "inputSchema": {"type": "array"}},
            {"name": "odd-properties", "inputSchema": {"type": "object", "properties": {"a": 5}}},
            {"name": "odd-required", "inputSchema": {"type": "object", "required": "a"}},
            {"name": "text-schema", "inputSchema": "any"},
            {"description": "has no name", "inputSchema": {"type": "object"}},
            "not an object",
            {
                "name": "odd-extras",
                "inputSchema": {"type": "object"},
                "annotations": 5,
                "title": 7,
                "description": None,
            },
        ]
    for tool in tools:
        if isinstance(tool, dict) and tool.get("name") == "broken-promise":
            tool["outputSchema"] = {"type": "object", "properties": {"answer": {"type": "integer"}}}
    return {"tools": tools}


def answer(request):
    method = request.get("method")
    if method == "notifications/cancelled":
        CANCELLED.append(request["params"]["requestId"])
    if "id" not in request or method is None:
        return
    if method == "initialize":
        result = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "odd", "version": "1"},
        }
        send({"id": request["id"], "result": result})
    elif method == "tools/list" and "deep" in VALUES:
        depth = int(VALUES["deep"])
        schema = b'{"properties":{"a":' * depth + b"{}" + b"}}" * depth
        tool = b'{"name":"deep","inputSchema":%b}' % schema
        write(b'{"jsonrpc":"2.0","id":%d,"result":{"tools":[%b]}}' % (request["id"], tool))
    elif method == "tools/list" and "no-tools" not in MODES:
        send({"id": request["id"], "result": listing(request.get("params", {}).get("cursor"))})
    elif method == "tools/call":
        threading.Thread(target=call, args=[request], daemon=True).start()
    else:
        if method == "server/discover" and "dies-of-news" in MODES:
            sys.exit("unknown method server/discover before initialize")
        send({"id": request["id"], "error": {"code": -32601, "message": f"no method {method}"}})


def prepare():
    """What happens before the first message is read."""
    if "counter" in VALUES:
        with open(VALUES["counter"], "a") as file:
            file.write("x")
        if os.path.getsize(VALUES["counter"]) > int(VALUES.get("starts", "1000")):
            sys.exit("no more starts")
    if "meet" in VALUES:
        with open(os.path.join(VALUES["meet"], str(os.getpid())), "x"):
            pass
        while len(os.listdir(VALUES["meet"])) < int(VALUES["others"]):
            time.sleep(0.01)
    if "garbage" in MODES:
        write(b"Welcome to the odd server!\n{not json\n\xff\xfe\n[1, 2]\n{}\n")
    if "flood" in MODES:
        sys.stderr.write("noise " * 500_000 + "\nlast words\n")
    if "spawn" in MODES:
        print("grandchild", spawn({})["content"][0]["text"], file=sys.stderr, flush=True)
    if "stubborn" in MODES:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "crash-at-start" in MODES:
        print("cannot read config.toml", file=sys.stderr, flush=True)
        sys.exit(7)
    if "hang-at-start" in MODES:
        print("waiting for a lock", file=sys.stderr, flush=True)
        time.sleep(600)


prepare()
for line in sys.stdin:
    answer(json.loads(line))
if "stubborn" in MODES:
    time.sleep(600)
