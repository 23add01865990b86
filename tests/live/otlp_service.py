#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""otlp_service - how does a request say which service it is of?

usage: otlp_service.py FILE...

For each body of a request with profiles a line of JSON: profiles, services by name, and in
how many resources service.name has a plain key, a key by reference into the dictionary's
strings (collectors of 0.161 and later write that), or is not there.  Grafana Pyroscope
(2026-08) and Parca (2026-07) read the plain key alone.  The decoder is not ours.
"""
import json
import sys
from collections import Counter

try:
    from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2
except ImportError as e:
    sys.exit(f"otlp_service: {e}: see otlp_check.py")

KEY = "service.name"


def service_of(resource, strings):
    """(how, name)"""
    for a in resource.attributes:
        how = "reference" if a.key_strindex else "plain"
        if (strings[a.key_strindex] if a.key_strindex else a.key) == KEY:
            i = a.value.string_value_strindex
            return how, strings[i] if i else a.value.string_value
    return "missing", None


def look(path):
    r = profiles_service_pb2.ExportProfilesServiceRequest()
    with open(path, "rb") as f:
        r.ParseFromString(f.read())
    how, names, profiles = Counter(), Counter(), 0
    for rp in r.resource_profiles:
        kind, name = service_of(rp.resource, r.dictionary.string_table)
        n = sum(len(sp.profiles) for sp in rp.scope_profiles)
        how[kind] += 1
        names[name] += n
        profiles += n
    return {"profiles": profiles, "how": how, "services": names}


for p in sys.argv[1:]:
    print(json.dumps(look(p)))
