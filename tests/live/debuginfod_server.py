# SPDX-License-Identifier: Apache-2.0
"""debuginfod_server - a debuginfod server that misbehaves as it is told

What it says to a build ID is a function by its hex, or 404."""
import http.server
import threading
import time


def found(content):
    def answer(h):
        h.send_response(200)
        h.send_header("Content-Length", str(len(content)))
        h.end_headers()
        h.wfile.write(content)
    return answer


def status(code, **headers):
    def answer(h):
        h.send_response(code)
        for name, value in headers.items():
            h.send_header(name.replace("_", "-"), value)
        h.send_header("Content-Length", "3")
        h.end_headers()
        h.wfile.write(b"no\n")
    return answer


def claims(length):
    """A Content-Length, and a few bytes."""
    def answer(h):
        h.send_response(200)
        h.send_header("Content-Length", str(length))
        h.end_headers()
        h.wfile.write(b"x" * 100)
        h.close_connection = True
    return answer


def endless(h):
    h.send_response(200)
    h.end_headers()
    h.close_connection = True
    while True:
        h.wfile.write(bytes(65536))


def slow(h):
    """A byte at a time."""
    h.send_response(200)
    h.end_headers()
    h.close_connection = True
    while True:
        h.wfile.write(b"x")
        h.wfile.flush()
        time.sleep(0.1)


def silent(_):
    time.sleep(60)


def garbage(h):
    h.wfile.write(b"\0\xff" * 1000)
    h.close_connection = True


def heads(first, line):
    """A head that begins so, and goes on with this line without end."""
    def answer(h):
        h.close_connection = True
        h.wfile.write(first)
        while True:
            h.wfile.write(line)
    return answer


headers = heads(b"HTTP/1.1 200 OK\r\n", b"X-Header: " + b"x" * 1000 + b"\r\n")
continues = heads(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 50)


def chunks(h):
    """A chunk of 10 GiB, of which little comes; and a length beside it that says otherwise."""
    h.send_response(200)
    h.send_header("Transfer-Encoding", "chunked")
    h.send_header("Content-Length", "100")
    h.end_headers()
    h.wfile.write(b"280000000\r\n" + b"x" * 100)
    h.close_connection = True


def packed(content):
    """It says that it is compressed."""
    def answer(h):
        h.send_response(200)
        h.send_header("Content-Encoding", "gzip")
        h.send_header("Content-Length", str(len(content)))
        h.end_headers()
        h.wfile.write(content)
    return answer


def empty(h):
    h.send_response(200)
    h.send_header("Content-Length", "0")
    h.end_headers()


class Server:
    def __init__(self, answers=None, port=0):
        outer = self
        self.answers = answers or {}
        self.asked = []
        self.agents = set()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                outer.asked.append(self.path)
                outer.agents.add(tuple(sorted((k, v) for k, v in self.headers.items()
                                              if k != "Host")))
                parts = self.path.split("/")
                known = len(parts) == 4 and parts[1] == "buildid" and parts[3] == "debuginfo"
                try:
                    outer.answers.get(parts[2] if known else "", status(404))(self)
                except OSError:
                    pass

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
