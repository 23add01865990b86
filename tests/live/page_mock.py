#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""page_mock - a make-believe server of the live page

Answers as trifold-viewer does (docs/VIEWER.md), from made-up samples, and
misbehaves on request: `mode` is "ok", or "500", "garbage", "wrong", "large"; `still`:
gives the same answers again, whatever is asked.  By hand:
page_mock.py [STACKS [PORT]].
"""
import http.server
import json
import os
import random
import sys
import threading
import time
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOSTILE = [
    "<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>",
    "\u202egnp.exe\u202c", "\u2066isolated\u2069\u200b", "x" * 10000,
    "\"><svg onload=alert(3)>", "javascript:alert(4)", "/[/", "a\0b\nc",
    "__proto__", "constructor", "\ud83d\udd25", "",
]
KINDS = {"kernel": 1, "native": 2, "go": 3, "unknown": 4}


def plain(n, seed=1):
    """Samples of a small web application, over the last ten minutes."""
    pick = random.Random(seed)
    now = time.time() * 1000
    libc = "libc.so.6"
    ways = [
        ("postgres", "postgres", "/usr/lib/postgresql/postgres", "db", [
            "main", "PostmasterMain", "ServerLoop", "PostgresMain",
            "exec_simple_query", ["PortalRun", "pg_plan_queries", "pg_parse_query"],
            ["ExecutorRun", "standard_planner", "raw_parser"],
            ["ExecSeqScan", "ExecHashJoin", "ExecSort", "base_yyparse"],
            ["heap_getnext", "hash_search", "qsort_tuple", "core_yylex"]]),
        ("node", "node", "/usr/bin/node", "web", [
            "_start", "main", "node::Start", "uv_run", ["uv__io_poll", "uv__run_timers"],
            ["v8::Function::Call", "node::InternalMakeCallback"],
            ["Builtins_InterpreterEntryTrampoline", "Builtins_JSEntry"],
            ["JSON.parse", "RegExp.exec", "Array.map", "Buffer.from"]]),
        ("worker", "worker-1", "/opt/app/worker", "web", [
            "runtime.goexit", "main.main", "main.(*Pool).run", ["main.resize", "main.encode"],
            ["image/jpeg.(*decoder).decode", "compress/flate.(*compressor).deflate"],
            ["runtime.memmove", "image/jpeg.(*decoder).reconstructBlock", "runtime.mallocgc"]]),
        ("nginx", "nginx", "/usr/sbin/nginx", "", [
            "_start", "main", "ngx_master_process_cycle", "ngx_worker_process_cycle",
            "ngx_epoll_process_events", ["ngx_http_process_request", "ngx_ssl_handshake"],
            ["ngx_http_send_header", "SSL_do_handshake", "ngx_writev"]]),
    ]
    out = []
    for _ in range(n):
        t = now - pick.random() * 600e3
        late = t > now - 200e3
        who = pick.choices(ways, [5, 4, 6 if late else 2, 2])[0]
        kind = "go" if who[0] == "worker" else "native"
        frames = []
        for f in who[4]:
            name = f if isinstance(f, str) else pick.choices(f, range(len(f), 0, -1))[0]
            frames.append((name, who[2].split("/")[-1], kind))
            if pick.random() < 0.04:
                break
        if pick.random() < 0.25:
            frames.append(("__memmove_avx_unaligned" if pick.random() < .5 else "write", libc, "native"))
            if frames[-1][0] == "write":
                for k in ("entry_SYSCALL_64_after_hwframe", "do_syscall_64", "ksys_write", "vfs_write"):
                    frames.append((k, "kernel", "kernel"))
        out.append((t, 100 + ways.index(who), who[0], who[1], who[2], who[3], tuple(frames)))
    return out


def hostile(n, seed=2):
    pick = random.Random(seed)
    now = time.time() * 1000
    out = []
    for _ in range(n):
        frames = tuple((pick.choice(HOSTILE), pick.choice(HOSTILE), pick.choice(list(KINDS)))
                       for _ in range(pick.randrange(1, 9)))
        who = [pick.choice(HOSTILE) for _ in range(4)]
        out.append((now - pick.random() * 60e3, 1 + pick.randrange(9), *who, frames))
    return out


def deep(frames):
    """Two samples whose stacks are that deep."""
    now = time.time() * 1000
    return [(now - 1000, 1 + who, f"deep_{who}", "thread", "/bin/deep", "",
             tuple((f"f{k * 7 % 50}", "lib.so", "native") for k in range(frames))) for who in range(2)]


def many(stacks, seed=3):
    """That many distinct stacks of 10 to 40 frames."""
    pick = random.Random(seed)
    now = time.time() * 1000
    names = [(f"function_{i}_of_some_length", f"lib{i % 40}.so", pick.choice(list(KINDS)))
             for i in range(5000)]
    out = []
    for i in range(stacks):
        n = 10 + pick.randrange(30)
        at = i % 64
        frames = [names[at]]
        for k in range(n):
            at = (at * 31 + (pick.randrange(3) if k % 4 else 0)) % 5000
            frames.append(names[at])
        frames.append(names[i % 5000])
        frames.append(names[i // 5000])
        out.append((now - pick.random() * 200e3, i % 50, f"process_{i % 50}", f"thread_{i % 7}",
                    f"/bin/p{i % 50}", "", tuple(frames)))
    return out


class Mock:
    def __init__(self, samples, key="k3y", port=0):
        self.samples, self.key, self.mode = samples, key, "ok"
        self.start = time.time() * 1000 - 600e3
        self.up_ms = 1000
        self.cpu_ns = 12345678
        self.asked = []
        self.still, self.cache, self.lock = False, {}, threading.Lock()
        mock = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *args):
                pass

            def do_GET(self):
                mock.answer(self)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://localhost:{self.port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def end(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, h):
        url = urllib.parse.urlsplit(h.path)
        q = urllib.parse.parse_qs(url.query, keep_blank_values=True)
        self.asked.append((url.path, q))
        if url.path == "/":
            with open(os.path.join(ROOT, os.environ.get("O", "build"), "viewer", "live.html"), "rb") as f:
                return self.send(h, 200, f.read(), "text/html; charset=utf-8")
        if not url.path.startswith("/api/v1/"):
            return self.send(h, 404, b"no such page", "text/plain")
        if self.mode == "wrong" or h.headers["Authorization"] != "Bearer " + self.key:
            return self.send(h, 401, b"the key is wrong", "text/plain")
        if self.mode == "500":
            return self.send(h, 500, b'{"error":"<b>out of memory</b>"}', "application/json")
        if self.mode == "large" and url.path.endswith(("/lanes", "/download")):
            return self.send(h, 413, b'{"error":"the selection is too large"}', "application/json")
        if self.mode == "garbage":
            return self.send(h, 200, b"{\"rows\":[1,2", "application/json")
        what = url.path.rsplit("/", 1)[1]
        if what == "download":
            return self.send(h, 200, json.dumps(q).encode(), "application/octet-stream")
        with self.lock:
            body = self.cache.get(what) if self.still else None
            if body is None:
                body = self.cache[what] = json.dumps(getattr(self, what)(q)).encode()
        self.send(h, 200, body, "application/json")

    @staticmethod
    def send(h, status, body, kind):
        h.send_response(status)
        h.send_header("Content-Type", kind)
        h.send_header("Content-Length", str(len(body)))
        h.end_headers()
        try:
            h.wfile.write(body)
        except OSError:
            pass

    @staticmethod
    def span(q, prefix=""):
        now = time.time() * 1000
        lo = float(q.get(prefix + "from", [0])[0])
        hi = float(q.get(prefix + "to", [now])[0])
        if "last" in q and not prefix:
            lo = now - 1000 * float(q["last"][0])
        return lo, hi

    def chosen(self, q, prefix="", but=None):
        lo, hi = self.span(q, prefix)
        columns = {"process": 2, "thread": 3, "executable": 4, "container": 5}
        for s in self.samples:
            if not lo <= s[0] < hi:
                continue
            if all(s[c] in q[k] for k, c in columns.items() if k in q and k != but) and \
                    ("pid" not in q or but == "pid" or str(s[1]) in q["pid"]) and \
                    ("tid" not in q or str(s[1]) in q["tid"]) and \
                    ("kind" not in q or but == "kind" or any(f[2] in q["kind"] for f in s[6])):
                yield s

    def info(self, _):
        now = int(time.time() * 1000)
        return {"version": "0", "host": "<b>host</b>", "kernel": "6.1.0", "machine": "x86_64",
                "frequency": 19, "now_ms": now, "start_ms": int(self.start), "end_ms": now,
                "samples": len(self.samples), "bytes": 12 << 20, "budget": 64 << 20, "stacks": 10,
                "coarse_ms": 0, "dropped": 0, "batches": 5, "cpus": 2, "sampling": True, "up_ms": self.up_ms, "lost": 0, "cpu_ns": self.cpu_ns, "host_ns": self.up_ms * 2000000}

    def timeline(self, q):
        lo, hi, n = float(q["from"][0]), float(q["to"][0]), int(q["bins"][0])
        counts = [0] * n
        for s in self.chosen(q):
            counts[min(n - 1, int((s[0] - lo) * n / (hi - lo)))] += 1
        return {"from": lo, "to": hi, "bin_ms": (hi - lo) / n, "counts": counts}

    def lanes(self, q):
        lo, hi = self.span(q)
        n, limit = int(q["bins"][0]), int(q["limit"][0])
        labels, threads = [], {}

        def label(*of):
            if of not in labels:
                labels.append(of)
            return labels.index(of)

        for s in self.chosen(q):
            v = threads.setdefault((s[2], s[1], s[3]), {})
            leaves = v.setdefault(min(n - 1, int((s[0] - lo) * n / (hi - lo))), {})
            leaf = (s[6][-1][0], s[6][-1][1], KINDS[s[6][-1][2]])
            leaves[leaf] = leaves.get(leaf, 0) + 1
        samples = {t: sum(sum(v.values()) for v in parts.values()) for t, parts in threads.items()}
        order = sorted(threads, key=lambda t: -samples[t])
        out = []
        for t in order[:limit]:
            flat = []
            for part, leaves in sorted(threads[t].items()):
                top = max(leaves, key=leaves.get)
                flat += [part, label(*top), leaves[top], sum(leaves.values())]
            out.append([label(t[0] or "[unknown process]", "pid", 0), t[1], t[1], t[2], samples[t], flat])
        return {"from": lo, "to": hi, "bin_ms": (hi - lo) / n, "threads": out, "labels": labels,
                "others": {"threads": len(order[limit:]), "samples": sum(samples[t] for t in order[limit:])}}

    def facets(self, q):
        out = {}
        for k, c in {"process": 2, "pid": 1, "thread": 3, "executable": 4, "container": 5}.items():
            n = {}
            for s in self.chosen(q, but=k):
                n[s[c]] = n.get(s[c], 0) + 1
            out[k] = [[v, v, c] for v, c in sorted(n.items(), key=lambda x: -x[1])][:int(q["limit"][0])]
        n = {}
        for s in self.chosen(q, but="kind"):
            for v in {f[2] for f in s[6]}:
                n[v] = n.get(v, 0) + 1
        out["kind"] = [[v, v, c] for v, c in sorted(n.items(), key=lambda x: -x[1])]
        return out

    def profile(self, q, base=None):
        strings, labels, label_of, rows = [], [], {}, []

        def label(name, module, kind):
            at = label_of.get((name, module, kind))
            if at is None:
                at = label_of[name, module, kind] = len(label_of)
                labels.extend([len(strings), len(strings) + 1, kind])
                strings.extend([name, module])
            return at

        tree = [0, 0, {}, 0]
        first = []
        total = [0, 0]
        now = time.time() * 1000
        for which, some in enumerate([self.chosen(q)] + ([base] if base is not None else [])):
            for s in some:
                at = tree[2].setdefault((s[2] or "[unknown process]", "pid", 0), [0, 0, {}, now])
                for f in s[6]:
                    at = at[2].setdefault((f[0], f[1], KINDS[f[2]]), [0, 0, {}, now])
                at[which] += 1
                at[3] = min(at[3], s[0])
                total[which] += 1
        below = 0
        marks, marked = [], 0
        todo = [(k, v, 0) for k, v in sorted(tree[2].items(), reverse=True)]
        while todo:
            k, v, depth = todo.pop()
            if k[0] == "main.encode":   # always inlined
                at = len(rows) // (4 if base is not None else 3)
                marks += [at - marked, 1]
                marked = at
            rows.extend([label(*k), below - depth, v[0]] + ([v[1]] if base is not None else []))
            if v[0]:
                first.append(int(v[3] - self.start))
            below = depth + 1
            todo.extend((k, v, depth + 1) for k, v in sorted(v[2].items(), reverse=True))
        info = {"host": "<b>host</b>", "kernel": "6.1.0", "machine": "x86_64", "command": "",
                "start_ms": int(self.start), "duration_ms": 1000, "frequency": 19,
                "samples": total[0], "account": None}
        full, lines, files = [], [], []
        for (name, _, kind), at in list(label_of.items()):
            if name == "ExecutorRun":
                full += [at, "ExecutorRun(QueryDesc *, ScanDirection)"]
            if kind == KINDS["go"]:
                lines += [at, len(files), 100 + len(name)]
                files.append("/src/" + name.split(".")[0] + ".go")
        out = {"info": info, "strings": strings, "labels": labels, "rows": rows, "full": full, "files": files,
               "lines": lines, "marks": marks}
        if q.get("first") == ["1"]:
            out["first"] = first
        if base is not None:
            info["base"] = {"start_ms": 0, "duration_ms": 0, "samples": total[1]}
            out["diff"] = True
        return out

    def diff(self, q):
        return self.profile(q, base=list(self.chosen(q, "base_")))


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    mock = Mock(many(n) if n else plain(20000), port=int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(f"{mock.url}#key={mock.key}", flush=True)
    time.sleep(1e6)
