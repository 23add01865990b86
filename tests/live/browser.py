# SPDX-License-Identifier: Apache-2.0
"""browser - headless Chromium, driven through its debugging pipe

One JSON message, then a NUL byte, on descriptors 3 and 4.  Python's own
library only.
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

KEYS = {"Escape": 27, "Enter": 13, "Home": 36, "End": 35, "ArrowLeft": 37,
        "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "/": 191, "?": 191,
        "Tab": 9, "ContextMenu": 93, "F10": 121}


def find():
    """The path of a Chromium, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    return None


class Browser:
    def __init__(self, chromium, size="1200,700", downloads=None):
        to_r, self.to = os.pipe()
        self.frm, from_w = os.pipe()
        self.profile = tempfile.mkdtemp()

        def descriptors():
            a, b = os.dup(to_r), os.dup(from_w)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--user-data-dir=" + self.profile, "--window-size=" + size,
             "--remote-debugging-pipe", "about:blank"],
            preexec_fn=descriptors, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_r)
        os.close(from_w)
        self.buffer = b""
        self.id = 0
        self.session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")
        if downloads:
            self.call("Browser.setDownloadBehavior", behavior="allow",
                      downloadPath=downloads)
        self.session = self.call("Target.attachToTarget", flatten=True,
                                 targetId=target["targetId"])["sessionId"]
        for domain in ("Page", "Log", "Runtime", "Network"):
            self.call(domain + ".enable")

    def receive(self):
        while b"\0" not in self.buffer:
            data = os.read(self.frm, 1 << 20)
            if not data:
                sys.exit("the browser ended")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.id += 1
        m = {"id": self.id, "method": method, "params": params}
        if self.session:
            m["sessionId"] = self.session
        os.write(self.to, json.dumps(m).encode() + b"\0")
        while True:
            r = self.receive()
            if r.get("id") == self.id:
                if "error" in r:
                    raise AssertionError(f"{method}: {r['error']}")
                return r["result"]
            self.events.append(r)

    def eval(self, js):
        r = self.call("Runtime.evaluate", expression=js, returnByValue=True,
                      awaitPromise=True, allowUnsafeEvalBlockedByCSP=False)
        if "exceptionDetails" in r:
            raise AssertionError(f"{js}: {r['exceptionDetails']}")
        return r["result"].get("value")

    def wait(self, js, seconds=60):
        """Until js is true; how long only says when a test that fails does so."""
        end = time.time() + seconds
        while True:
            v = self.eval(js)
            if v:
                return v
            if time.time() > end:
                raise AssertionError(f"waited {seconds} s in vain: {js}")
            time.sleep(0.05)

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")
        self.frame()

    def frame(self):
        self.eval("new Promise(r => requestAnimationFrame(() => "
                  "requestAnimationFrame(() => r(1))))")

    def mouse(self, kind, x, y):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                  button="left" if kind != "mouseMoved" else "none",
                  buttons=0 if kind == "mouseReleased" else 1, clickCount=1)

    def move(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.frame()

    def click(self, x, y):
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y)
        self.frame()

    def drag(self, x, y, to_x, to_y):
        self.mouse("mousePressed", x, y)
        for k in range(1, 5):
            self.call("Input.dispatchMouseEvent", type="mouseMoved", buttons=1,
                      button="left", x=x + (to_x - x) * k / 4,
                      y=y + (to_y - y) * k / 4)
        self.mouse("mouseReleased", to_x, to_y)
        self.frame()

    def key(self, key, shift=False):
        for kind in ("keyDown", "keyUp"):
            more = {}
            if kind == "keyDown" and (len(key) == 1 or key == "Enter"):
                more["text"] = "\r" if key == "Enter" else key
            self.call("Input.dispatchKeyEvent", type=kind, key=key,
                      code=key, windowsVirtualKeyCode=KEYS.get(key, ord(key[0].upper())),
                      modifiers=8 if shift else 0, **more)
        self.frame()

    def press(self, element):
        """Click an element by its id."""
        self.eval(f"document.getElementById('{element}').click()")
        self.frame()

    def text(self, element):
        return self.eval(f"document.getElementById('{element}').textContent")

    def data(self, name):
        """What the page says of itself."""
        return self.eval(f"document.documentElement.dataset.{name}")

    def type(self, element, text):
        """Replace what stands in an input."""
        self.eval(f"document.getElementById('{element}').focus();"
                  f"document.getElementById('{element}').select()")
        if text:
            self.call("Input.insertText", text=text)
        else:
            self.eval(f"{{ const e = document.getElementById('{element}'); e.value = '';"
                      "e.dispatchEvent(new Event('input')); }")
        self.frame()

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=False)
        self.frame()

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": name}])
        self.frame()

    def shot(self, path):
        png = self.call("Page.captureScreenshot")["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(png))

    def redraw_ms(self, n=30):
        """Medians: of the page's own drawing, and from frame to frame."""
        return self.eval(
            "new Promise(done => { const own = [], gap = [];"
            "const v = document.getElementById('view'); let t = performance.now();"
            "const f = () => { const u = performance.now(); gap.push(u - t); t = u;"
            "own.push(Number(document.documentElement.dataset.drawMs));"
            "v.dispatchEvent(new Event('scroll'));"
            f"if (own.length > {n}) {{ const m = (a) => a.sort((x, y) => x - y)[a.length >> 1];"
            "done([m(own), m(gap)]); } else requestAnimationFrame(f); };"
            "requestAnimationFrame(f); })")

    def complaints(self, allowed):
        """What went wrong behind the page's back; allowed(url) for requests."""
        out = []
        while True:
            n = len(self.events)
            self.eval("1")
            if n == len(self.events):
                break
        for e in self.events:
            if e["method"] == "Runtime.exceptionThrown":
                out.append(f"throws {e['params']}")
            # that is advice to the test, which reads the canvas
            if e["method"] == "Log.entryAdded" and "willReadFrequently" not in str(e):
                out.append(f"logs {e['params']['entry']['text']} {e['params']['entry'].get('url')}")
            if e["method"] == "Page.javascriptDialogOpening":
                out.append(f"runs a name: {e['params']}")
            if e["method"] == "Network.requestWillBeSent":
                url = e["params"]["request"]["url"]
                if not allowed(url):
                    out.append("asks for " + url)
        self.events = []
        return out

    def end(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.to)
        os.close(self.frm)
        # its helpers may write for a moment after it has ended
        for _ in range(50):
            shutil.rmtree(self.profile, ignore_errors=True)
            if not os.path.exists(self.profile):
                break
            time.sleep(0.1)
