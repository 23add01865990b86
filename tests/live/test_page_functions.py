#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one does with functions in the page of a recording, in headless Chromium:
page_functions.py over made-up samples.  Skips without Chromium.
"""
import json
import os
import subprocess
import sys
import tempfile

import page_functions
import page_look
import page_mock
from browser import Browser, find

TESTS = [t for t in page_functions.PARTS + page_look.PARTS if len(sys.argv) < 2 or t.__name__ in sys.argv[1:]]


def write(path, samples):
    """The page that `trifold record` writes, with these samples."""
    mock = page_mock.Mock(samples)
    with open(os.path.join(page_mock.ROOT, os.environ["O"], "viewer", "static.html"), encoding="utf-8") as f:
        text = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace("@DATA@", json.dumps(mock.profile({})).replace("<", "\\u003c")))
    mock.end()


def main():
    chromium = find()
    if not chromium:
        print("ok 1 - functions in a recording's page # SKIP needs chromium\n1..1")
        return 0
    os.environ.setdefault("O", "build")
    subprocess.run(["make", "-s", "O=" + os.environ["O"], os.environ["O"] + "/viewer/static.html"],
                   cwd=page_mock.ROOT, check=True)
    samples = page_mock.plain(3000)
    failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "page.html")
        write(path, samples)
        b = Browser(chromium, "1200,700")
        try:
            for i, fn in enumerate(TESTS, 1):
                b.open("about:blank")
                b.open("file://" + path)
                try:
                    fn(b, page_functions.stacks_of(samples))
                    bad = b.complaints(lambda u: u.startswith(("file://" + path, "about:")))
                    assert not bad, bad
                    print(f"ok {i} - {fn.__doc__}", flush=True)
                except AssertionError as e:
                    failed += 1
                    print(f"# {e}\nnot ok {i} - {fn.__doc__}".replace("\n# ", "\n# "), flush=True)
        finally:
            b.end()
    print(f"1..{len(TESTS)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
