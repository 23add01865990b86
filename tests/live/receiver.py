#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""receiver - an OTLP/HTTP receiver on loopback that does what it is told

usage: receiver.py --dir DIR [--script STEP,STEP,...] [--tls CERT KEY [CA]]

Each request takes the next step; the last one repeats.  Steps:
  200             accept ("0a 00", as the OpenTelemetry collector says it)
  NNN             answer with this status, and a google.rpc.Status
  NNN;after=S     ... and Retry-After: S
  NNN;date=S      ... and Retry-After: a date in S seconds
  NNN;to=PORT     ... and Location: that port of this host
  rate=N          200, and 503 to what comes in the same second after N
  partial=N       200, N profiles refused
  warning         200, nothing refused, with a message
  slow=S          200 after S seconds
  hang            no answer until the client leaves
  close           close the connection without an answer
  reset           the same by RST
  garbage         bytes that are not HTTP
  gzip:STEP       any of the above but the odd ones, its answer compressed
  badgzip         200 whose body says it is gzip, and is not
  drip, drip=NNN  200 (or that), a byte of the body each second
  nototlp         200 with a body that is not protobuf
  headers, chunks, continue
                  headers, a body, or "100 Continue" without end
  limit=N         413 when the body, decompressed, is larger; else 200
  huge=N          200 with a body of N bytes

DIR/port is written when it listens; DIR/NNN.body are the request bodies,
decompressed; DIR/requests.jsonl has a line for each request.
"""
import argparse
import gzip
import json
import os
import socket
import socketserver
import ssl
import struct
import subprocess
import threading
import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler

PROTOBUF = "application/x-protobuf"


def status_body(text):
    return b"\x08\x0e\x12" + bytes([len(text)]) + text.encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *args):
        pass

    def handle(self):
        try:
            super().handle()
        except OSError:
            pass

    def answer(self, status, body, **headers):
        self.send_response(status)
        self.send_header("Content-Type", PROTOBUF)
        if self.zip:
            body = gzip.compress(body)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        step, plain = self.server.note(self, body)
        self.zip = step.startswith("gzip:")
        step = step.removeprefix("gzip:")
        name, _, value = step.partition("=")
        if name == "drip":
            self.step_drip(int(value or "200"))
        elif name == "limit":
            self.step_status("413" if len(plain) > int(value) else "200")
        elif name == "rate":
            self.step_status("200" if self.server.in_second() <= int(value) else "503")
        elif name in ("slow", "partial", "huge"):
            getattr(self, "step_" + name)(float(value))
        elif name in ("headers", "chunks", "continue"):
            self.step_endless(name)
        elif name in ("hang", "close", "reset", "garbage", "nototlp", "warning",
                      "badgzip"):
            getattr(self, "step_" + name)()
        else:
            self.step_status(*step.split(";"))

    def step_status(self, status, retry=""):
        name, _, value = retry.partition("=")
        headers = {}
        if name == "after":
            headers["Retry_After"] = value
        elif name == "date":
            headers["Retry_After"] = formatdate(time.time() + float(value) + 0.999, usegmt=True)
        elif name == "to":
            headers["Location"] = f"http://127.0.0.1:{value}/elsewhere"
        body = b"\x0a\x00" if status == "200" else status_body("told to")
        self.answer(int(status), body, **headers)

    def step_partial(self, n):
        self.answer(200, b"\x0a\x06\x08" + bytes([int(n)]) + b"\x12\x02no")

    def step_warning(self):
        self.answer(200, b"\x0a\x04\x12\x02hm")

    def step_slow(self, seconds):
        time.sleep(seconds)
        self.answer(200, b"\x0a\x00")

    def step_hang(self):
        self.connection.settimeout(60)
        self.connection.recv(1)
        self.close_connection = True

    def step_close(self):
        self.close_connection = True

    def step_reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def step_garbage(self):
        self.connection.sendall(b"\x00\xff this is not HTTP\r\n\r\n" * 20)
        self.close_connection = True

    def step_nototlp(self):
        self.answer(200, b"<html>welcome</html>")

    def step_badgzip(self):
        self.answer(200, b"\x0a\x00", Content_Encoding="gzip")

    def step_drip(self, status):
        self.send_response(status)
        self.send_header("Content-Type", PROTOBUF)
        self.send_header("Content-Length", "40")
        self.end_headers()
        for i in range(40):
            self.wfile.write(b"\x00")
            time.sleep(1)

    def step_endless(self, what):
        begin, more = {
            "headers": (b"HTTP/1.1 200 OK\r\n", b"X-Header: " + b"x" * 1000 + b"\r\n"),
            "chunks": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                       b"400\r\n" + b"x" * 1024 + b"\r\n"),
            "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        }[what]
        self.connection.sendall(begin)
        while True:         # until the client leaves
            self.connection.sendall(more)

    def step_huge(self, n):
        self.answer(200, b"\x00" * int(n))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, opts):
        super().__init__(("127.0.0.1", opts.port), Handler)
        self.dir = opts.dir
        self.steps = opts.script.split(",")
        self.lock = threading.Lock()
        self.n = self.second = self.came = 0
        if opts.tls:
            self.use_tls(*opts.tls)

    def use_tls(self, cert, key, ca=None):
        ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        ctx.load_cert_chain(cert, key)
        if ca:
            ctx.load_verify_locations(ca)
            ctx.verify_mode = ssl.CERT_REQUIRED
        self.socket = ctx.wrap_socket(self.socket, server_side=True)

    def in_second(self):
        """How many came in this second, this one too."""
        with self.lock:
            if int(time.time()) != self.second:
                self.second, self.came = int(time.time()), 0
            self.came += 1
            return self.came

    def handle_error(self, request, client_address):
        pass

    def note(self, handler, body):
        with self.lock:
            n = self.n
            self.n += 1
        step = self.steps[min(n, len(self.steps) - 1)]
        plain = body
        if handler.headers.get("Content-Encoding") == "gzip":
            plain = gzip.decompress(body)
        elif handler.headers.get("Content-Encoding") == "zstd":
            plain = subprocess.run(["zstd", "-dcq"], input=body, stdout=subprocess.PIPE,
                                   check=True).stdout
        with open(os.path.join(self.dir, f"{n:03}.body"), "wb") as f:
            f.write(plain)
        line = {"n": n, "time": time.time(), "path": handler.path, "step": step,
                "wire": len(body), "len": len(plain), "headers": handler.headers.items()}
        with self.lock, open(os.path.join(self.dir, "requests.jsonl"), "a") as f:
            f.write(json.dumps(line) + "\n")
        return step, plain


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--dir", required=True)
    p.add_argument("--port", type=int, default=0)
    p.add_argument("--script", default="200")
    p.add_argument("--tls", nargs="+")
    opts = p.parse_args()
    server = Server(opts)
    tmp = os.path.join(opts.dir, "port.new")
    with open(tmp, "w") as f:
        f.write(str(server.server_address[1]))
    os.rename(tmp, os.path.join(opts.dir, "port"))
    server.serve_forever(poll_interval=0.1)


if __name__ == "__main__":
    main()
