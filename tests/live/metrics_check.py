#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""metrics_check - does an OTLP metrics request keep every rule?

usage: metrics_check.py [--jsonl] FILE...

Decodes request bodies (or, with --jsonl, what the collector's file exporter
wrote) with the published Python package opentelemetry-proto, a decoder that is
not ours, checks the rules of the metrics data model, and prints one JSON object
a request: {"resource": {...}, "metrics": {NAME: {"kind": "sum"|"level"|"gauge",
"unit": ..., "points": [{"attributes": {...}, "value": ..., "start": ..., "time":
...}]}}}.  Exits with 1 when a rule is broken.
"""
import argparse
import json
import re
import sys

try:
    from google.protobuf import json_format
    from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
    from opentelemetry.proto.metrics.v1 import metrics_pb2
except ImportError as e:
    sys.exit(f"metrics_check: {e}")

NAME = re.compile(r"[a-z][a-z0-9_.]*")


def attributes(pairs):
    out = {p.key: p.value.string_value for p in pairs}
    assert len(out) == len(pairs), "an attribute twice"
    assert all(out.values()), f"an empty attribute: {out}"
    return out


def kind_of(m):
    if m.WhichOneof("data") == "gauge":
        return "gauge", m.gauge.data_points
    assert m.WhichOneof("data") == "sum", m.name
    assert m.sum.aggregation_temporality == metrics_pb2.AGGREGATION_TEMPORALITY_CUMULATIVE, m.name
    return "sum" if m.sum.is_monotonic else "level", m.sum.data_points


def point(p, kind, name):
    which = p.WhichOneof("value")
    assert which, f"{name}: a point without a value"
    value = getattr(p, which)
    assert p.time_unix_nano > 10 ** 18, f"{name}: time"
    if kind != "gauge":
        assert 10 ** 18 < p.start_time_unix_nano <= p.time_unix_nano, f"{name}: start"
    if kind == "sum":
        assert value >= 0, f"{name}: {value}"
    return {"attributes": attributes(p.attributes), "value": value,
            "start": p.start_time_unix_nano, "time": p.time_unix_nano}


def metric(m):
    assert NAME.fullmatch(m.name), m.name
    assert m.unit and m.description, m.name
    kind, data = kind_of(m)
    points = [point(p, kind, m.name) for p in data]
    assert points, f"{m.name}: no points"
    seen = {json.dumps(p["attributes"], sort_keys=True) for p in points}
    assert len(seen) == len(points), f"{m.name}: a point twice"
    return {"kind": kind, "unit": m.unit, "points": points}


def request(r):
    assert len(r.resource_metrics) == 1
    rm = r.resource_metrics[0]
    assert len(rm.scope_metrics) == 1
    sm = rm.scope_metrics[0]
    assert sm.scope.name == "trifold" and sm.scope.version and sm.schema_url == rm.schema_url
    names = [m.name for m in sm.metrics]
    assert len(set(names)) == len(names), "a metric twice"
    return {"resource": attributes(rm.resource.attributes),
            "metrics": {m.name: metric(m) for m in sm.metrics}}


def requests_of(path, jsonl):
    if not jsonl:
        with open(path, "rb") as f:
            r = metrics_service_pb2.ExportMetricsServiceRequest()
            data = f.read()
            r.ParseFromString(data)
            # what it does not know would be lost
            assert len(r.SerializeToString()) == len(data), "bytes that are no field"
            yield r
        return
    with open(path, encoding="utf-8") as f:
        for line in f:
            if '"resourceMetrics"' in line:
                yield json_format.Parse(line, metrics_service_pb2.ExportMetricsServiceRequest())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--jsonl", action="store_true")
    p.add_argument("files", nargs="+")
    opts = p.parse_args()
    for path in opts.files:
        for r in requests_of(path, opts.jsonl):
            print(json.dumps(request(r)))


if __name__ == "__main__":
    main()
