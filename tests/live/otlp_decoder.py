# SPDX-License-Identifier: Apache-2.0
"""A python3 with the published decoder of OTLP, opentelemetry-proto."""
import fcntl
import os
import shutil
import subprocess
import sys

BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build")
PACKAGE = "opentelemetry-proto==1.45.2"
PROBE = "import opentelemetry.proto.collector.profiles.v1development"


def decoder():
    """(python, None), or (None, why there is none).  Given by OTLP_PYTHON, or
    fetched once into the build directory; tests that run beside each other
    wait for the one that fetches it."""
    python = os.environ.get("OTLP_PYTHON")
    venv = os.path.join(BUILD, "otlp-venv")
    why = None
    os.makedirs(BUILD, exist_ok=True)
    with open(venv + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not python:
            python = os.path.join(venv, "bin", "python3")
            for command in ([sys.executable, "-m", "venv", venv],
                            [os.path.join(venv, "bin", "pip"), "-q", "install", PACKAGE]):
                if why or has_decoder(python):
                    continue
                r = subprocess.run(command, capture_output=True, text=True, timeout=120)
                if r.returncode:
                    why = "cannot fetch it: " + (r.stderr.strip().splitlines() or ["?"])[-1]
                    shutil.rmtree(venv, ignore_errors=True)
        if not why and not has_decoder(python):
            why = f"{python} does not have it"
    return (None, "no opentelemetry-proto: " + why) if why else (python, None)


def has_decoder(python):
    return os.path.exists(python) and not subprocess.run(
        [python, "-c", PROBE], capture_output=True).returncode
