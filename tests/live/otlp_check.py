#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""otlp_check - does an OTLP profiles request keep every rule?

usage: otlp_check.py [--chain LEAF,CALLER,...]... [--attribute KEY=VALUE]...
                     [--foreign] [--jsonl] FILE...

Decodes request bodies (or, with --jsonl, what the collector's file exporter
wrote) with the published Python package opentelemetry-proto, a decoder that is
not ours, and checks the rules of profcheck (OpenTelemetry sig-profiling) and
of the receivers.  Prints sums; exits with 1 when a rule is broken, or when a
--chain of function names, leaf first, is in no stack, or when a resource has
not every --attribute.  --foreign: only profcheck's rules, for requests that
are not ours.
"""
import argparse
import base64
import json
import sys
from collections import Counter

try:
    from google.protobuf import json_format
    from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2
except ImportError as e:
    sys.exit(f"otlp_check: {e}\nFor a decoder: python3 -m venv DIR && "
             "DIR/bin/pip install opentelemetry-proto==1.45.2, then run this with DIR/bin/python3")

TABLES = ("mapping", "location", "function", "link", "string", "attribute", "stack")
# profile.frame.type of the semantic conventions, and unknown, abort-marker, jit
FRAME_TYPES = {"kernel", "native", "go", "unknown", "abort-marker", "cpython", "jit", "jvm", "perl"}


class Checker:
    def __init__(self, request, ours, attributes=()):
        self.r, self.d, self.ours = request, request.dictionary, ours
        self.wanted = attributes
        self.broken = []
        self.sums = Counter()
        self.used = {t: {0} for t in TABLES}


    def rule(self, ok, text):
        if not ok:
            self.broken.append(text)
        return bool(ok)

    def table(self, name):
        return getattr(self.d, name + "_table")

    def index(self, table, i, what):
        ok = self.rule(0 <= i < len(self.table(table)), f"{what}: {table} index {i} out of range")
        if ok:
            self.used[table].add(i)
        return ok

    def string(self, i, what):
        return self.d.string_table[i] if self.index("string", i, what) else ""

    # --- dictionary -----------------------------------------------------

    def zeros(self):
        for t in TABLES:
            if not self.rule(len(self.table(t)), f"{t}_table is empty"):
                continue
            first = self.table(t)[0]
            size = len(first) if t == "string" else first.ByteSize()
            if t == "attribute" and size == 2 and first.HasField("value"):
                size = 0        # an empty value is as good as none
            self.rule(size == 0, f"{t}_table[0] is not the empty element")

    def attributes(self, indices, what):
        keys = []
        for i in indices:
            if not self.index("attribute", i, what):
                continue
            key = self.d.attribute_table[i].key_strindex
            if 0 <= key < len(self.d.string_table):
                keys.append(self.d.string_table[key])
        self.rule(len(keys) == len(set(keys)), f"{what}: attribute keys repeat: {keys}")
        return keys

    def value(self, i):
        v = self.d.attribute_table[i].value
        return getattr(v, v.WhichOneof("value")) if v.WhichOneof("value") else None

    def mappings(self):
        for n, m in enumerate(self.d.mapping_table):
            what = f"mapping {n}"
            self.string(m.filename_strindex, what)
            self.rule(m.memory_start == m.memory_limit == 0 or m.memory_start < m.memory_limit,
                      f"{what}: start {m.memory_start}, limit {m.memory_limit}")
            keys = self.attributes(m.attribute_indices, what)
            if n and self.ours:
                self.rule(any(k.startswith("process.executable.build_id.") for k in keys),
                          f"{what}: no build id")

    def locations(self):
        for n, loc in enumerate(self.d.location_table):
            what = f"location {n}"
            self.index("mapping", loc.mapping_index, what)
            keys = self.attributes(loc.attribute_indices, what)
            for line in loc.lines:
                self.index("function", line.function_index, what)
                self.rule(line.line >= 0 and line.column >= 0, f"{what}: negative line")
            if n and self.ours:
                self.location_of_ours(loc, keys, what)

    def location_of_ours(self, loc, keys, what):
        if self.rule("profile.frame.type" in keys, f"{what}: no profile.frame.type"):
            kind = self.value(loc.attribute_indices[keys.index("profile.frame.type")])
            self.rule(kind in FRAME_TYPES, f"{what}: frame type {kind!r}")
        if loc.mapping_index:
            m = self.d.mapping_table[loc.mapping_index]
            self.rule(m.memory_start <= loc.address < m.memory_limit,
                      f"{what}: address {loc.address:#x} outside its mapping")

    def functions(self):
        for n, f in enumerate(self.d.function_table):
            what = f"function {n}"
            names = [self.string(i, what) for i in
                     (f.name_strindex, f.system_name_strindex, f.filename_strindex)]
            self.rule(f.start_line >= 0, f"{what}: negative line")
            self.rule(not n or any(names), f"{what}: no name")

    def others(self):
        for n, link in enumerate(self.d.link_table):
            self.rule(not n or (len(link.trace_id) == 16 and len(link.span_id) == 8),
                      f"link {n}: lengths of ids")
        for n, s in enumerate(self.d.stack_table):
            for i in s.location_indices:
                self.index("location", i, f"stack {n}")
        for n, a in enumerate(self.d.attribute_table):
            self.string(a.key_strindex, f"attribute {n}")
            self.string(a.unit_strindex, f"attribute {n}")

    def duplicates(self):
        for t in TABLES:
            elements = [e if t == "string" else e.SerializeToString(deterministic=True)
                        for e in self.table(t)]
            twice = [e for e, n in Counter(elements).items() if n > 1]
            self.rule(not twice, f"{t}_table has {len(twice)} elements more than once: {twice[:3]}")

    def orphans(self):
        for t in TABLES:
            unused = set(range(len(self.table(t)))) - self.used[t]
            self.rule(not unused, f"{t}_table: {len(unused)} elements unused: {sorted(unused)[:5]}")

    # --- profiles ---------------------------------------------------------

    def sample(self, p, s, what):
        self.index("stack", s.stack_index, what)
        self.index("link", s.link_index, what)
        self.attributes(s.attribute_indices, what)
        v, t = len(s.values), len(s.timestamps_unix_nano)
        self.rule(v or t, f"{what}: neither values nor timestamps")
        self.rule(not (v and t) or v == t, f"{what}: {v} values, {t} timestamps")
        self.rule(t or v == 1, f"{what}: {v} values without timestamps")
        end = p.time_unix_nano + p.duration_nano
        for ts in s.timestamps_unix_nano:
            self.rule(p.time_unix_nano <= ts < end, f"{what}: timestamp outside the profile")
        self.sums["samples"] += 1
        self.sums["events"] += max(v, t)
        return bool(v), bool(t)

    def profile(self, p, what):
        for t in (p.sample_type, p.period_type):
            self.string(t.type_strindex, what)
            self.string(t.unit_strindex, what)
        self.attributes(p.attribute_indices, what)
        shapes = {self.sample(p, s, f"{what}, sample {n}") for n, s in enumerate(p.samples)}
        self.rule(len(shapes) <= 1, f"{what}: samples of {len(shapes)} shapes")
        if self.ours:
            identity = Counter((s.stack_index, frozenset(s.attribute_indices), s.link_index)
                               for s in p.samples)
            self.rule(max(identity.values(), default=1) == 1, f"{what}: samples not merged")
            self.rule(p.samples, f"{what}: no samples")
            self.rule(p.sample_type.type_strindex and p.period_type.type_strindex and p.period > 0,
                      f"{what}: no sample type or period")
            self.rule(len(p.profile_id) == 16 and any(p.profile_id), f"{what}: profile id")
        self.sums["profiles"] += 1

    def resource(self, rp, what):
        keys = [a.key for a in rp.resource.attributes]
        self.rule(len(keys) == len(set(keys)), f"{what}: resource keys repeat: {keys}")
        said = {f"{a.key}={getattr(a.value, a.value.WhichOneof('value') or 'string_value')}"
                for a in rp.resource.attributes}
        for a in self.wanted:
            self.rule(a in said, f"{what}: no {a}")
        if not self.ours:
            return
        self.rule("service.name" in keys, f"{what}: no service.name")
        for a in rp.resource.attributes:
            self.rule(a.key and not a.key_strindex and
                      a.value.WhichOneof("value") != "string_value_strindex",
                      f"{what}: an attribute by reference")

    def profiles(self):
        self.rule(self.r.resource_profiles, "no resource_profiles")
        for i, rp in enumerate(self.r.resource_profiles):
            self.resource(rp, f"resource {i}")
            self.rule(rp.scope_profiles, f"resource {i}: no scope_profiles")
            for k, sp in enumerate(rp.scope_profiles):
                self.rule(sp.profiles, f"resource {i}, scope {k}: no profiles")
                for j, p in enumerate(sp.profiles):
                    self.profile(p, f"resource {i}, scope {k}, profile {j}")

    def run(self):
        if not self.rule(self.r.HasField("dictionary"), "no dictionary"):
            return
        self.zeros()
        if self.broken:
            return
        self.profiles()
        self.mappings()
        self.locations()
        self.functions()
        self.others()
        if self.ours:
            self.rule(self.r.ByteSize() < 20 << 20, "20 MiB or more")
            self.duplicates()
            self.orphans()

    # --- what is in it ------------------------------------------------------

    def names(self, stack):
        out = []
        for i in self.d.stack_table[stack].location_indices:
            lines = self.d.location_table[i].lines
            out += [self.d.string_table[self.d.function_table[line.function_index].name_strindex]
                    for line in lines] or ["?"]
        return out

    def has_chain(self, chain):
        n = len(chain)
        for s in range(1, len(self.d.stack_table)):
            names = self.names(s)
            if any(names[i:i + n] == chain for i in range(len(names) - n + 1)):
                return True
        return False


def requests(path, jsonl):
    if not jsonl:
        with open(path, "rb") as f:
            yield profiles_service_pb2.ExportProfilesServiceRequest.FromString(f.read()), set()
        return
    with open(path, encoding="utf-8") as f:
        for line in f:
            yield from_json(json.loads(line))


def resolve(tree, key, strings, used):
    i = tree.pop(key + "Strindex", None)
    if i is not None:
        tree[key] = strings[i]
        used.add(i)


def from_json(tree):
    """OTLP's JSON has hex where proto3's has base64; the collector writes
    references where we sent plain keys, so these are resolved.  Returns the
    request and the strings that were used by reference."""
    strings = tree["dictionary"].get("stringTable", [])
    used = set()
    for rp in tree.get("resourceProfiles", []):
        for a in rp.get("resource", {}).get("attributes", []):
            resolve(a, "key", strings, used)
            resolve(a.get("value", {}), "stringValue", strings, used)
        for sp in rp.get("scopeProfiles", []):
            for p in sp.get("profiles", []):
                if "profileId" in p:
                    p["profileId"] = to_base64(p["profileId"])
    out = profiles_service_pb2.ExportProfilesServiceRequest()
    return json_format.ParseDict(tree, out), used


def to_base64(text):
    return base64.b64encode(bytes.fromhex(text)).decode()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--chain", action="append", default=[])
    p.add_argument("--attribute", action="append", default=[])
    p.add_argument("--foreign", action="store_true")
    p.add_argument("--jsonl", action="store_true")
    p.add_argument("files", nargs="+")
    opts = p.parse_args()
    chains = {c: False for c in opts.chain}
    sums, bad = Counter(), 0
    for path in opts.files:
        for r, used in requests(path, opts.jsonl):
            c = Checker(r, not opts.foreign, opts.attribute)
            c.used["string"] |= used
            c.run()
            for text in c.broken[:20]:
                print(f"{path}: {text}")
            bad += len(c.broken)
            sums.update(c.sums)
            sums["requests"] += 1
            sums["bytes"] += r.ByteSize()
            for t in TABLES:
                sums[t + "s"] += len(c.table(t))
            for chain in chains:
                chains[chain] |= not c.broken and c.has_chain(chain.split(","))
    print(" ".join(f"{k}={v}" for k, v in sums.items()))
    for chain, found in chains.items():
        if not found:
            bad += 1
            print(f"no stack has: {chain}")
    print("ok" if not bad else f"{bad} rules broken")
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
