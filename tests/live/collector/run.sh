#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The OpenTelemetry collector, as a receiver for tests.
# usage: run.sh CACHE                 build it there, unless it is there already
#        run.sh CACHE PORT FILE       ... and run it: loopback PORT to FILE
# OTLP_MAX: bytes that it takes as a request (its default: 20 MiB).
# OTLP_CERT, OTLP_KEY: for TLS; OTLP_CLIENT_CA: ask clients for certificates of
# that authority.
# Ends with 77 and a reason when it cannot be had here (no go, no network).
set -u
version=v0.159.0
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

build() {
	PATH=$PATH:/usr/local/go/bin
	command -v go >/dev/null || skip "no go to build the collector with"
	cp "$here/builder.yaml" "$cache/" || exit 1
	cd "$cache" || exit 1
	# everything stays in the cache, and can be removed with it
	export GOPATH="$cache/go" GOCACHE="$cache/gocache" GOBIN="$cache/bin"
	export GOFLAGS="-modcacherw -buildvcs=false"
	# neither optimised nor for a debugger: that is most of a build's time, and it runs for
	# seconds.  Both are built in the same way, so that they share Go's own packages.
	plain="all=-N -l -dwarf=false"
	{
		new_toolchain &&
		nice go install -trimpath -gcflags="$plain" -ldflags="-s -w" \
			"go.opentelemetry.io/collector/cmd/builder@$version" &&
		nice "$cache/bin/builder" --config builder.yaml --gcflags="$plain"
	} >"$cache/build.log" 2>&1 || skip "the collector did not build: $(tail -n 1 "$cache/build.log")"
}

case $cache in
/*) ;;
*) cache=$PWD/$cache binary=$PWD/$binary ;;
esac
mkdir -p "$cache" || exit 1
exec 9>"$cache/lock"	# one builds, others wait for it
flock 9
[ -x "$binary" ] || build
exec 9>&-
[ $# -ge 3 ] || exit 0
OTLP_PORT=$2 OTLP_FILE=$3
export OTLP_PORT OTLP_FILE
config=$here/config.yaml
[ -z "${OTLP_CERT-}" ] || config=$here/config-tls.yaml
exec "$binary" --config "$config" --feature-gates=service.profilesSupport
