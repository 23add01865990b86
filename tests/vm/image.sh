#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Make an initramfs of the built programs, what they link, and the test loads:
#
#   tests/vm/image.sh OUT BUILD BUSYBOX SYSROOT CC...
#
# BUILD holds bin/, hostile/confine_* and live/verifier; CC... compiles for the guest; SYSROOT ("" for this
# machine's own root) holds the libraries.
set -eu
out=$1 build=$2 busybox=$3 root=$4
shift 4
here=$(cd "$(dirname "$0")" && pwd)
live=$here/../live
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
mkdir -p "$dir"/{bin,dev,proc,sys,run,tmp}

triplet=$("$@" -dumpmachine)
triplet=${triplet/-pc-/-}
places="$root/lib/$triplet $root/usr/lib/$triplet $root/lib64 $root/usr/lib64
$root/lib $root/usr/lib"

# needs FILE: the libraries and the interpreter that it names, if not there yet
needs() {
	local lib p to
	for lib in $(readelf -Wd "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
		[ ! -e "$dir/lib/$triplet/$lib" ] || continue
		[ -z "$(find "$dir/jre" -name "$lib" 2>/dev/null)" ] || continue
		for p in $places; do
			[ -e "$p/$lib" ] || continue
			install -D "$(readlink -f "$p/$lib")" \
				"$dir/lib/$triplet/$lib"
			needs "$dir/lib/$triplet/$lib"
			continue 2
		done
		echo "no $lib for the guest" >&2
		return 1
	done
	to=$(readelf -Wl "$1" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
	[ -z "$to" ] || [ -e "$dir$to" ] ||
		install -D "$(readlink -f "$root$to")" "$dir$to"
}

flags="-O2 -g0 -fomit-frame-pointer"
install "$busybox" "$dir/bin/busybox"
install "$build"/bin/* "$build"/hostile/confine_* "$build/live/verifier" "$dir/bin/"
"$@" $flags "$live/chain.c" -o "$dir/bin/chain"
"$@" $flags "$live/chain.c" -static-pie -o "$dir/bin/static"
"$@" $flags "$live/deep.c" -o "$dir/bin/deep"
"$@" $flags "$here/load.c" -pthread -o "$dir/bin/threads"
case $triplet in aarch64-*)
	"$@" $flags -mbranch-protection=standard "$live/chain.c" \
		-o "$dir/bin/pac" ;;
esac
ln "$dir/bin/threads" "$dir/bin/vdso"
ln "$dir/bin/threads" "$dir/bin/signal"
ln "$dir/bin/chain" "$dir/bin/syscall"
# Debian's CPython, and what it reads before it runs a program
python=$(find "$root"/usr/bin -regex '.*/python3\.[0-9]+' | sort -V | tail -n 1)
install "$python" "$dir/bin/python"
version=${python##*/}
for f in codecs.py io.py abc.py encodings/{__init__,aliases,utf_8,ascii,latin_1}.py; do
	install -D -m 644 "$root/usr/lib/$version/$f" "$dir/usr/lib/$version/$f"
done
install -m 644 "$live/python_chain.py" "$dir/chain.py"
# HotSpot with its least; jlink makes one for any machine of its own release
modules=$(find "$root"/usr/lib/jvm -name jmods -type d 2>/dev/null | sort | head -n 1)
if [ -n "$modules" ] && command -v jlink javac >/dev/null; then
	jlink ${root:+--module-path "$modules"} --add-modules java.base --compress=2 \
		--no-header-files --no-man-pages --output "$dir/jre"
	javac -nowarn -d "$dir/classes" "$live/HotspotLoad.java"
	for f in "$dir"/jre/bin/java "$dir"/jre/lib/*.so "$dir"/jre/lib/server/*.so; do
		needs "$f"
	done
	ln "$dir/jre/bin/java" "$dir/jre/bin/warm-java"
fi
# with DWARF; the path of its source is what lines show
"$@" -O2 -g "$live/cases/inlined.c" -o "$dir/bin/lines"
for f in chain syscall static pac deep threads vdso signal python lines; do
	[ ! -e "$dir/bin/$f" ] || ln "$dir/bin/$f" "$dir/bin/warm-$f"
done
for f in "$dir"/bin/*; do
	needs "$f"
done
# some libraries are sought in another place than where the linker saw them
[ -d "$dir/lib64" ] || [ ! -e "$dir/usr/lib64" ] || ln -s usr/lib64 "$dir/lib64"
install "$here/init" "$dir/init"
(cd "$dir" && find . -print0 | cpio -0 -o -H newc --quiet) >"$out.new"
mv "$out.new" "$out"
