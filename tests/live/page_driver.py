#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Drives headless Chromium through its debugging pipe (one JSON message, then a
# NUL byte, on descriptors 3 and 4): page_driver.py CHROMIUM PAGE SAMPLES [PNG]
#
# Clicks, searches and presses keys in a page of tests/live/test_page.c and
# looks at what the page then says.  Fails with a line for each thing wrong.

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time


class Browser:
    def __init__(self, chromium, profile):
        to_r, self.to = os.pipe()
        self.frm, from_w = os.pipe()

        def descriptors():
            a, b = os.dup(to_r), os.dup(from_w)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--user-data-dir=" + profile, "--window-size=1200,700",
             "--remote-debugging-pipe", "about:blank"],
            preexec_fn=descriptors, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_r)
        os.close(from_w)
        self.buffer = b""
        self.id = 0
        self.session = None
        self.events = []

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
                    sys.exit("%s: %s" % (method, r["error"]))
                return r["result"]
            self.events.append(r)

    def eval(self, js):
        r = self.call("Runtime.evaluate", expression=js, returnByValue=True,
                      awaitPromise=True)
        if "exceptionDetails" in r:
            sys.exit("%s: %s" % (js, r["exceptionDetails"]))
        return r["result"].get("value")

    def frame(self):
        self.eval("new Promise(r => requestAnimationFrame(() => "
                  "requestAnimationFrame(() => r(1))))")

    def mouse(self, kind, x, y):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                  button="left" if kind != "mouseMoved" else "none",
                  clickCount=1)

    def click(self, x, y):
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y)
        self.frame()

    def end(self):
        self.process.terminate()
        self.process.wait()

    def key(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=code)
        self.frame()


def text(b, element):
    return b.eval("document.getElementById('%s').textContent" % element)


def look(b, page, samples, expect):
    start = time.time()
    b.call("Page.enable")
    b.call("Log.enable")
    b.call("Runtime.enable")
    b.call("Network.enable")
    b.call("Page.navigate", url="file://" + os.path.abspath(page))
    while b.eval("document.readyState") != "complete":
        time.sleep(0.05)
    b.frame()
    took = time.time() - start
    print("# loaded and drawn in %.2f s" % took)
    expect(took < 20, "takes %.1f s to load" % took)
    expect(b.eval("document.documentElement.dataset.samples") == samples,
           "shows other samples than there are")
    expect(b.eval("document.images.length") == 0, "has an image")
    expect(b.eval("document.scripts.length") == 2, "has another script")
    expect("<b>host</b>" in text(b, "about"), "lacks the host's name")
    expect("difference 0" in text(b, "account"), "lacks the account")


def use(b, samples, expect):
    bottom = "document.getElementById('canvas').getBoundingClientRect().bottom"
    y = b.eval(bottom) - 27          # the line above "all": processes
    b.mouse("mouseMoved", 30, y)
    b.frame()
    tip = text(b, "tip")
    expect("</script><img" in tip and "samples" in tip, "tip says " + tip)
    b.click(30, y)
    crumbs = text(b, "crumbs")
    expect("all" in crumbs and "</script><img" in crumbs,
           "crumbs say " + crumbs)
    expect("z=" in b.eval("location.hash"), "forgets where it is")
    b.key("Escape", 27)
    expect("100.00 %" in text(b, "crumbs"), "Escape does not reset")
    b.key("/", 191)
    expect(b.eval("document.activeElement.id") == "query", "/ does not search")
    b.call("Input.insertText", text="gcc")
    b.frame()
    expect(text(b, "matched").startswith("matched "), "does not search")
    expect("matched 0.00" not in text(b, "matched"), "does not find gcc")
    b.eval("document.getElementById('query').select()")
    b.call("Input.insertText", text="/^(gcc|java|postgres)$/")
    b.frame()
    expect("matched 0.00" not in text(b, "matched"), "finds no expression")
    b.eval("document.getElementById('query').select()")
    b.call("Input.insertText", text="/(/")
    b.frame()
    expect("not a regular" in text(b, "matched"), "takes a bad expression")
    b.key("Escape", 27)
    expect(text(b, "matched") == "", "Escape does not end the search")
    for name in ("flip", "theme", "flip"):
        b.eval("document.getElementById('%s').click()" % name)
        b.frame()
    ms = b.eval(
        "new Promise(done => { let n = 0; const t = performance.now();"
        "const v = document.getElementById('view');"
        "const f = () => { v.dispatchEvent(new Event('scroll'));"
        "if (++n > 20) done((performance.now() - t) / 20);"
        "else requestAnimationFrame(f); }; f(); })")
    print("# %.1f ms a frame" % ms)
    expect(ms < 100, "takes %.0f ms to draw" % ms)


def main():
    chromium, page, samples = sys.argv[1:4]
    failed = []

    def expect(ok, what):
        if not ok:
            failed.append(what)
            print("# the page " + what)

    profile = tempfile.mkdtemp()
    b = Browser(chromium, profile)
    try:
        target = b.call("Target.createTarget", url="about:blank")
        b.session = b.call("Target.attachToTarget", flatten=True,
                           targetId=target["targetId"])["sessionId"]
        look(b, page, samples, expect)
        use(b, samples, expect)
        for e in b.events:
            if e["method"] == "Runtime.exceptionThrown":
                expect(False, "throws %s" % e["params"])
            if e["method"] == "Log.entryAdded":
                expect(False, "logs %s" % e["params"]["entry"]["text"])
            if e["method"] == "Network.requestWillBeSent":
                url = e["params"]["request"]["url"]
                expect(url.startswith("file://") and url.endswith(
                    os.path.basename(page)), "asks for " + url)
        if len(sys.argv) > 4:
            png = b.call("Page.captureScreenshot")["data"]
            with open(sys.argv[4], "wb") as f:
                f.write(base64.b64decode(png))
    finally:
        b.end()
        # its helpers may write for a moment after it has ended
        for _ in range(50):
            shutil.rmtree(profile, ignore_errors=True)
            if not os.path.exists(profile):
                break
            time.sleep(0.1)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
