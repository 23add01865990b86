#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The image and the pod of packaging/kubernetes, by podman: what the image has, that the
# pod profiles a known program of the host and one in a container, what each container may
# do, that each comes back when it is killed, and that nothing is left.  Needs root.  All
# that podman writes is in a mount namespace and a directory of the test's own.
cd "$(dirname "$0")/../.." || exit 1
failed=0
CHAIN=chain_10,chain_9,chain_8,chain_7,chain_6,chain_5,chain_4,chain_3,chain_2,chain_1,main
CAPS="BPF, PERFMON, SYS_PTRACE, DAC_READ_SEARCH, CHECKPOINT_RESTORE"
CONTAINERS="symbolizerd loaderd exporterd"

skip() {
	echo "ok - the pod in podman # SKIP $*"
	exit 0
}

ok() {	# name, status, what to show
	if [ "$2" = 0 ]; then
		echo "ok - $1"
	else
		echo "$3" | tail -n 30 | sed 's/^/# /'
		echo "not ok - $1"
		failed=1
	fi
}

check() {	# name, command...
	local name=$1 said
	shift
	said=$("$@" 2>&1)
	ok "$name" $? "$said"
}

[ "$(id -u)" = 0 ] || skip "needs root"
for p in podman runc conmon python3; do
	command -v $p >/dev/null || skip "needs $p"
done
# Debian's 3 wants more than a container should have: docs/CONTAINERS.md
level=/proc/sys/kernel/perf_event_paranoid
paranoid=$(cat $level)
[ "$paranoid" -le 2 ] || [ -w $level ] || skip "kernel.perf_event_paranoid is above 2"
if [ -z "${TEST_OCI_INSIDE-}" ]; then
	TEST_OCI_INSIDE=1 exec unshare -m --propagation private "$0" "$@"
fi

tmp=$(mktemp -d)
version=$(sed -n 's/^#define TRIFOLD_VERSION[[:space:]]*"\(.*\)"$/\1/p' profile/formats/otlp.h)
image=localhost/trifold:$version
mine=	# processes
pod() {
	CONTAINERS_CONF=$tmp/containers.conf podman --storage-driver vfs --root "$tmp/root" \
		--runroot "$tmp/runroot" --tmpdir "$tmp/tmp" --log-level error "$@"
}
cgroups() {
	find /sys/fs/cgroup -maxdepth 2 -type d -name libpod_parent 2>/dev/null | sort
}
before=$(cgroups)
remove() {
	pod pod rm -f -t 5 trifold
	pod rm -f -t 1 other
	pod volume rm -f -a
	pod rmi -f -a
	local c
	for c in $(cgroups); do
		find "$c" -depth -type d -exec rmdir {} + 2>/dev/null
	done
}
cleanup() {
	remove >/dev/null 2>&1
	[ -z "$mine" ] || kill $mine 2>/dev/null
	# podman's mounts of its own storage
	grep -o " $tmp/[^ ]*" /proc/self/mounts | sort -r | while read -r m; do umount -l "$m"; done
	rm -rf --one-file-system "$tmp"
	[ "$paranoid" -le 2 ] || echo "$paranoid" >$level
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# not the host's: locks, states and networks of podman
for d in /dev/shm /run /var/lib/containers /etc/cni; do
	[ ! -d $d ] || mount -t tmpfs tmpfs $d
done
[ "$paranoid" -le 2 ] || echo 2 >$level
# podman gives a user who is not root added capabilities as ambient ones, Kubernetes'
# runtimes do not: here neither
cat >"$tmp/runc" <<'END'
#!/usr/bin/python3
import json, os, sys
if "--bundle" in sys.argv:
    path = sys.argv[sys.argv.index("--bundle") + 1] + "/config.json"
    with open(path, encoding="utf-8") as f:
        config = json.load(f)
    for kind in ("ambient", "inheritable"):
        config["process"].get("capabilities", {}).pop(kind, None)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(config, f)
os.execvp("runc", ["runc", *sys.argv[1:]])
END
chmod 755 "$tmp/runc"
cat >"$tmp/containers.conf" <<END
[containers]
pidns = "host"
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "$tmp/runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
END

# --- the image

make -s image oci-seccomp >"$tmp/log" 2>&1
ok "the image is made" $? "$(cat "$tmp/log")"
same_image() {
	packaging/oci/make_image.py build "$tmp/1.tar" && packaging/oci/make_image.py build "$tmp/2.tar" &&
		cmp "$tmp/1.tar" "$tmp/2.tar" && rm "$tmp/1.tar" "$tmp/2.tar"
}
check "... twice, with the same bytes" same_image
check "it has no shell and no setuid program, and one with capabilities: loaderd" \
	python3 - build/oci/trifold.oci.tar <<'END'
import gzip, io, json, struct, sys, tarfile
outer = tarfile.open(sys.argv[1])
def blob(digest):
    return outer.extractfile("blobs/sha256/" + digest.split(":")[1]).read()
manifest = json.loads(blob(json.load(outer.extractfile("index.json"))["manifests"][0]["digest"]))
layer = tarfile.open(fileobj=io.BytesIO(gzip.decompress(blob(manifest["layers"][0]["digest"]))))
wrong, capable = [], {}
for f in layer:
    if f.mode & 0o6000 or f.uid or f.gid or (f.mode & 0o022 and not f.issym() and not f.mode & 0o1000):
        wrong.append(f"{f.name} {f.mode:o} {f.uid}:{f.gid}")
    if f.isfile() and f.mode & 0o111 and ".so" not in f.name and "/trifold" not in f.name:
        wrong.append(f.name)
    xattr = f.pax_headers.get("SCHILY.xattr.security.capability")
    if xattr:
        v = struct.unpack("<5I", xattr.encode("utf-8", "surrogateescape"))
        capable[f.name] = [i for i in range(64) if (v[1] | v[3] << 32) >> i & 1], v[0]
print(wrong, capable)
assert not wrong
assert capable == {"usr/libexec/trifold/trifold-loaderd": ([2, 19, 38, 39, 40], 0x02000001)}
END

# --- what is profiled: the same program, on the host and in a container.  A file has one
# path, that of who ran it first, so that each has a copy.

cc -O2 -fomit-frame-pointer tests/live/chain.c -o "$tmp/chain" && cp "$tmp/chain" "$tmp/other.chain" || exit 1
chmod 755 "$tmp" "$tmp/chain" "$tmp/other.chain"
"$tmp/chain" 600 rest &
mine="$mine $!"
pod load -q -i build/oci/trifold.oci.tar >"$tmp/log" 2>&1
ok "podman takes it" $? "$(cat "$tmp/log")"
pod run -d --name other --network none --user 1234 -v "$tmp/other.chain:/chain:ro" \
	"$image" /chain 600 rest >"$tmp/other.id" 2>"$tmp/log"
ok "another container runs a program" $? "$(cat "$tmp/log")"
other=$(cat "$tmp/other.id")

# --- the pod, without a network but loopback, on which there is a receiver

printf '[sampling]\ninterval = 1\nfrequency = 97\n[export]\nendpoint = http://127.0.0.1:4318\n' \
	>"$tmp/trifold.conf"
CONFIG=$tmp/trifold.conf tests/install/pod_of.py packaging/kubernetes node1 >"$tmp/pod.yaml" &&
	pod play kube --network none --seccomp-profile-root "$PWD/build/oci/seccomp.d" \
		"$tmp/pod.yaml" >"$tmp/log" 2>&1
started=$?
ok "podman play kube starts the pod of the DaemonSet" $started "$(cat "$tmp/log")"
[ $started = 0 ] || exit 1
mkdir "$tmp/received"
infra=$(pod inspect "$(pod pod inspect trifold --format '{{.InfraContainerID}}')" --format '{{.State.Pid}}')
nsenter -t "$infra" -n tests/live/receiver.py --dir "$tmp/received" --port 4318 --script 200 &
mine="$mine $!"

pid_of() {
	pod inspect "trifold-$1" --format '{{.State.Pid}}' 2>/dev/null
}
logs() {
	for c in $CONTAINERS; do
		pod logs "trifold-$c" 2>&1 | tail -n 8 | sed "s/^/$c: /"
	done
}
# in requests that come from now on
arrives() {	# chain, attributes
	local n had
	had=$(find "$tmp/received" -name '*.body' | wc -l)
	for _ in $(seq 120); do
		n=$(tests/install/oci_profiles.py "$tmp/received" "$had" "$@")
		[ "$n" -ge 20 ] && return 0
		sleep 0.5
	done
	echo "$n samples in requests from $had on"
	logs
	return 1
}
status() {
	pod exec trifold-symbolizerd /usr/bin/trifold status --json
}
up() {
	status >"$tmp/status" &&
		[ "$(grep -cE '"(loaderd|exporterd)_up": *true' <(tr ',' '\n' <"$tmp/status"))" = 2 ]
}
agrees() {
	# what has just come back loads its programs first
	for _ in $(seq 120); do
		up && break
		sleep 0.5
	done
	status >"$tmp/status" && python3 - "$tmp/status" <<'END'
import json, sys
s = json.load(open(sys.argv[1]))
n = s["samples"]
print(n)
assert s["loaderd_up"] and s["exporterd_up"] and n["taken"] and n["delivered"] and not n["difference"]
END
}
check "the chain of the host's program arrives, with the node's name" \
	arrives "$CHAIN" process.executable.path="$tmp/chain" container.id= k8s.node.name=node1
check "that of the other container, with its ID" \
	arrives "$CHAIN" container.id="$other" k8s.node.name=node1
check "the account agrees, asked inside the pod" agrees

# --- what each may do

state() {	# PID, line of its status
	sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status" | tr '\t' ' '
}
holds() {	# container, uid, capabilities at most, ... in use
	local p
	p=$(pid_of "$1")
	for want in "Uid $2 $2 $2 $2" "Gid $2 $2 $2 $2" "CapBnd $3" "CapPrm $4" "CapEff $4" \
		"CapInh 0000000000000000" "CapAmb 0000000000000000" "NoNewPrivs 1" "Seccomp 2" \
		"Seccomp_filters 2"; do
		[ "$(state "$p" "${want%% *}")" = "${want#* }" ] ||
			{ echo "${want%% *} is $(state "$p" "${want%% *}"), not ${want#* }"; return 1; }
	done
}
none=0000000000000000
five=000001c000080004	# $CAPS
check "symbolizerd: its user, no capability, no_new_privs, two filters" \
	holds symbolizerd 1900000003 $none $none
check "loaderd: its user, at most $CAPS; BPF and PERFMON in use" \
	holds loaderd 1900000002 $five 000000c000000000
check "exporterd: its user, no capability, no_new_privs, two filters" \
	holds exporterd 1900000004 $none $none

below() {	# process: what it started, and they
	local p
	for p in $(cat "/proc/$1/task/$1/children"); do
		echo "$p"
		below "$p"
	done
}
opener() {
	local p n=0
	for p in $(below "$(pid_of loaderd)"); do
		n=$((n + 1))
		echo "$p $(state "$p" CapEff) $(state "$p" Uid)"
		[ "$(state "$p" CapEff)" = 0000010000080004 ] &&
			[ "$(state "$p" Uid)" = "1900000002 1900000002 1900000002 1900000002" ] || return 1
	done
	[ $n -ge 2 ]
}
check "its opener: SYS_PTRACE, DAC_READ_SEARCH, CHECKPOINT_RESTORE alone" opener

# what is mounted beside what any container has, and how
mounts() {
	awk '{ print $5, $6 }' "/proc/$(pid_of "$1")/mountinfo" | sed 's/,.*//' | grep -vE \
		'^/(proc|sys|dev)(/| )|^/(etc/(hosts|hostname|resolv.conf)|run/.containerenv) ro' | sort
}
mounted() {	# container, what is wanted
	diff <(mounts "$1") <(echo "$2")
}
check "symbolizerd: a read-only root, the three sockets' directories" mounted symbolizerd "/ ro
/run/trifold rw
/run/trifold-config ro
/run/trifold-export rw
/run/trifold-loader rw"
for c in loaderd exporterd; do
	check "$c: a read-only root, its socket's directory read-only" mounted $c "/ ro
/run/trifold ro
/run/trifold-config ro"
done
sockets() {
	for c in loaderd exporterd; do
		ls "/proc/$(pid_of $c)/root/run/trifold"
	done | diff - <(printf 'loader.sock\nexport.sock\n')
}
check "each sees its own socket and no other" sockets
inside() {	# process, namespace
	readlink "/proc/$1/ns/$2"
}
namespaces() {
	local p
	for c in $CONTAINERS; do
		p=$(pid_of "$c")
		echo "$c: $(inside "$p" pid) $(inside "$p" net) $(inside "$p" mnt)"
		[ "$(inside "$p" pid)" = "$(inside $$ pid)" ] &&
			[ "$(inside "$p" net)" = "$(inside "$infra" net)" ] &&
			[ "$(inside "$p" net)" != "$(inside $$ net)" ] &&
			[ "$(inside "$p" mnt)" != "$(inside $$ mnt)" ] || return 1
	done
}
check "the host's processes are visible, its network is not" namespaces

# --- each comes back

comes_back() {
	local p new
	p=$(pid_of "$1")
	kill -9 "$p"
	for _ in $(seq 120); do
		new=$(pid_of "$1")
		[ "$new" != 0 ] && [ "$new" != "$p" ] && [ -d "/proc/$new" ] && break
		sleep 0.5
	done
	[ "$new" != "$p" ] && arrives "$CHAIN" container.id="$other" && agrees
}
for c in $CONTAINERS; do
	check "$c is killed and comes back, profiles arrive, the account agrees" comes_back "$c"
done

# --- nothing is left

pids=$(for c in $CONTAINERS; do p=$(pid_of "$c"); echo "$p"; below "$p"; done)
remove >"$tmp/log" 2>&1
gone() {
	local p left
	[ -n "$pids" ] || return 1
	left=$(pod ps -aq; pod pod ps -q; pod images -q; pod volume ls -q; cgroups)
	for p in $pids; do
		[ ! -d "/proc/$p" ] || left="$left process $p"
	done
	echo "$left"
	[ "$left" = "$before" ]
}
check "nothing is left: containers, images, volumes, processes, cgroups" gone
exit $failed
