#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The OpenTelemetry collector, as a receiver for tests.
# usage: run.sh CACHE                 build it there, unless it is there already
#        run.sh CACHE PORT FILE       ... and run it: loopback PORT to FILE
# COLLECTOR_VERSION: another than the newest that is known to build.
# OTLP_MAX: bytes that it takes as a request (its default: 20 MiB).
# OTLP_CERT, OTLP_KEY: for TLS; OTLP_CLIENT_CA: ask clients for certificates of
# that authority.
# OTLP_NEXT: a URL that profiles are passed on to, instead of the file.
# Ends with 77 and a reason when it cannot be had here (no go, no network).
set -u
version=${COLLECTOR_VERSION:-v0.165.0}
here=$(cd "$(dirname "$0")" && pwd) || exit 1
cache=$1
binary=$cache/dist/otelcol-trifold-test

skip() {
	echo "SKIP $*"
	exit 77
}

# From 1.21 on go fetches the toolchain that a module asks for; for an older one,
# such as Debian 12's, it is fetched here.
toolchain=go1.25.5
new_toolchain() {
	case $(go env GOVERSION) in go1.2[1-9]* | go1.[3-9][0-9]*) return 0 ;; esac
	module=golang.org/toolchain@v0.0.1-$toolchain.linux-$(go env GOARCH)
	go mod download "$module" || return
	dir=$GOPATH/pkg/mod/$module
	chmod -R +x "$dir/bin" "$dir/pkg/tool" && PATH=$dir/bin:$PATH
}

# The modules of a version.  The collector's stable ones count otherwise.
modules() {
	case $version in
	v0.159.0) provider=v1.65.0 k8s=v0.159.0 ;;
	v0.165.0) provider=v1.71.0 k8s=v0.160.0 ;;
	*) skip "the modules of collector $version are not known" ;;
	esac
	sed "s/@CORE@/$version/; s/@PROVIDER@/$provider/; s/@K8S@/$k8s/" "$here/builder.yaml" \
		>"$cache/builder.yaml" || exit 1
}

build() {
	PATH=$PATH:/usr/local/go/bin
	command -v go >/dev/null || skip "no go to build the collector with"
	modules
	cd "$cache" || exit 1
	# everything stays in the cache, and can be removed with it
	export GOPATH="$cache/go" GOCACHE="$cache/gocache" GOBIN="$cache/bin"
	export GOFLAGS="-modcacherw -buildvcs=false"
	# neither optimised nor for a debugger: that is most of a build's time, and it runs for
	# seconds.  Both are built in the same way, so that they share Go's own packages.
	plain="all=-N -l -dwarf=false"
	# the builder makes a directory for a distribution there, also where it is told another,
	# and leaves it
	left=$(mktemp -d) || exit 1
	trap 'rm -rf "$left"' EXIT
	(
		export TMPDIR="$left"
		new_toolchain &&
		nice go install -trimpath -gcflags="$plain" -ldflags="-s -w" \
			"go.opentelemetry.io/collector/cmd/builder@$version" &&
		nice "$cache/bin/builder" --config builder.yaml --gcflags="$plain"
	) >"$cache/build.log" 2>&1 || skip "the collector did not build: $(tail -n 1 "$cache/build.log")"
	rm -rf "$left"
	trap - EXIT
}

case $cache in
/*) ;;
*) cache=$PWD/$cache binary=$PWD/$binary ;;
esac
mkdir -p "$cache" || exit 1
exec 9>"$cache/lock"	# one builds, others wait for it
flock 9
# built by another recipe, or of another version, is built again
built=$cache/built
recipe=$version\ $(cksum <"$here/builder.yaml")
[ -x "$binary" ] && [ "$(cat "$built" 2>/dev/null)" = "$recipe" ] || build
echo "$recipe" >"$built"
exec 9>&-
[ $# -ge 3 ] || exit 0
OTLP_PORT=$2 OTLP_FILE=$3
export OTLP_PORT OTLP_FILE
config=$here/config.yaml
[ -z "${OTLP_NEXT-}" ] || config=$here/config-forward.yaml
[ -z "${OTLP_CERT-}" ] || config=$here/config-tls.yaml
exec "$binary" --config "$config" --feature-gates=service.profilesSupport
