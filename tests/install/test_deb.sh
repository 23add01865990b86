#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Debian's packages of the last commit: they build, hold what they should, and
# lintian and blhc have nothing to say; in a fresh root they install with their
# dependencies, run, upgrade, and leave nothing behind when they are purged.
#
#   tests/install/test_deb.sh [--long]
#
# --long: also built a second time, from the source package, elsewhere, at
# another time, in another language and with another umask: the same bytes.
# SUITE: of the root; by default this machine's.  TRIFOLD_MIRROR: where its
# packages come from.  Unit tests are left out: they are a tier of their own.
# Without root it wants mmdebstrap's mode `unshare` (/etc/subuid, newuidmap).
cd "$(dirname "$0")/../.." || exit 1
here=$PWD
export LC_ALL=C.UTF-8
version=$(sed -n 's/^#define TRIFOLD_VERSION[[:space:]]*"\(.*\)"$/\1/p' \
	profile/formats/otlp.h)
old=0.0.1
units=$(dpkg --compare-versions "$(dpkg-query -W -f '${Version}' debhelper)" ge 13.11.6 &&
	echo usr/)lib/systemd/system
users="trifold-config trifold-loaderd trifold-opener trifold-symbolizerd trifold-exporterd trifold-viewer"
failed=0

check() {	# name, command...
	local name=$1
	shift
	if "$@" >"$tmp/log" 2>&1; then
		echo "ok - $name"
		return 0
	fi
	tail -n 30 "$tmp/log" | sed 's/^/# /'
	echo "not ok - $name"
	failed=1
	return 1
}

# --- in the root, which is $root seen from here

inside() {
	chroot "$root" env DEBIAN_FRONTEND=noninteractive HOME=/root "$@"
}

apt_get() {
	inside apt-get -y -q --no-install-recommends "$@"
}

install() {	# pattern below /debs, option...
	# shellcheck disable=SC2016	# of the shell inside
	inside sh -c 'debs=$1 && shift && apt-get -y -q --no-install-recommends "$@" \
		install /debs/$debs' sh "$@"
}

# what is there, but for what apt, dpkg and logs write; and what /etc says, but
# for the users, which stay as Debian has it
files_there() {
	(cd "$root" && find . \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./debs \
		-o -path ./tmp -o -path ./var/cache -o -path ./var/log \
		-o -path ./var/lib/apt -o -path ./var/lib/dpkg \) -prune \
		-o -printf '%P %y %m %U %G %l\n' | sort
	find etc -type f ! -name 'passwd*' ! -name 'group*' ! -name 'shadow*' \
		! -name 'gshadow*' -print0 | sort -z | xargs -0 sha256sum)
}

has_users() {
	local u
	for u in $users; do
		inside getent passwd "$u" | grep '^[^:]*:[^:]*:[0-9]*:[0-9]*:.*:/usr/sbin/nologin$' ||
			return 1
	done
}

versions() {	# wanted
	# shellcheck disable=SC2016	# the format is dpkg's
	inside dpkg-query -W -f '${Package} ${Version} ${db:Status-Abbrev}\n' 'trifold*'
	# shellcheck disable=SC2016
	[ "$(inside dpkg-query -W -f '${Version}\n' 'trifold*' | sort -u)" = "$1" ]
}

programs_run() {
	local p
	[ "$(inside trifold --version)" = "trifold $version" ] || return 1
	for p in supervisor loaderd symbolizerd exporterd viewer; do
		echo "trifold-$p"
		! inside ldd "/usr/libexec/trifold/trifold-$p" | grep 'not found' || return 1
	done
	inside /usr/libexec/trifold/trifold-viewer --version
}

is_private() {	# directory
	[ "$(inside stat -c '%a %U %G' "$1")" = "700 trifold-exporterd trifold-exporterd" ]
}

same_as_before() {
	diff "$tmp/before" <(files_there)
}

# what a package had is gone, but for the configuration
removed() {
	# (which units were enabled is systemd's own note, and goes by a purge)
	find "$root" \( -path "$root/debs" -o -path "$root/var/lib/dpkg" -o -path "$root/proc" -o \
		-path "$root/var/lib/systemd/deb-systemd-helper-enabled" \) -prune -o \
		-name '*trifold*' -print | sed "s|^$root||" | sort >"$tmp/left"
	diff - "$tmp/left" <<-END
		/etc/apparmor.d/local/trifold-config
		/etc/apparmor.d/local/trifold-exporterd
		/etc/apparmor.d/local/trifold-start
		/etc/apparmor.d/local/trifold-symbolizerd
		/etc/apparmor.d/local/trifold-viewer
		/etc/apparmor.d/trifold-config
		/etc/apparmor.d/trifold-exporterd
		/etc/apparmor.d/trifold-start
		/etc/apparmor.d/trifold-symbolizerd
		/etc/apparmor.d/trifold-viewer
		/etc/trifold
		/etc/trifold/trifold.conf
		/var/cache/trifold-exporterd
		/var/lib/trifold-exporterd
	END
}

not_beside_another() {
	! install 'old/trifold-viewer_*.deb'
}

steps() {
	local deps
	mkdir "$root/debs"
	mkdir "$root/debs/new"
	cp -R "$tmp/old" "$root/debs/"
	cp "$tmp"/new/trifold{,-viewer,-doc}_*.deb "$root/debs/new/"
	deps=$(install 'new/*.deb' --simulate |
		sed -n 's/^Inst \([^ ]*\) .*/\1/p' | grep -v '^trifold')
	echo "dependencies: $deps" | tr '\n' ' ' | fold -s -w 90 | sed 's/^/# /; $s/$/\n/'
	# before trifold: what it leaves is then not what they leave
	# shellcheck disable=SC2086	# words
	check "its dependencies install" apt_get install $deps || return
	files_there >"$tmp/before"
	check "version $old installs" install 'old/*.deb' || return
	check "it is that version" versions $old
	check "its users are there" has_users
	check "the spool's directory is its user's alone" is_private /var/lib/trifold-exporterd
	check "so is that of debug files" is_private /var/cache/trifold-exporterd
	check "its programs run" programs_run
	check "the configuration is a valid one" inside trifold check-config
	check "the manual pages are where man looks" [ -e "$root/usr/share/man/man8/trifold-viewer.8.gz" ]
	echo '# mine' >>"$root/etc/trifold/trifold.conf"
	touch "$root"/var/{cache,lib}/trifold-exporterd/batch
	check "version $version is an upgrade" install 'new/*.deb'
	check "it is that version now" versions "$version"
	check "a configuration that was changed stays" \
		grep -q '^# mine$' "$root/etc/trifold/trifold.conf"
	check "so does what is in the spool" [ -e "$root/var/lib/trifold-exporterd/batch" ]
	check "its programs run after that" programs_run
	check "it can do without the viewer" apt_get remove trifold-viewer
	check "which needs the same version" not_beside_another
	check "it removes" apt_get remove trifold trifold-viewer trifold-doc
	check "but for configuration, spool and debug files" removed
	check "it installs again" install 'new/*.deb'
	check "it purges" apt_get purge trifold trifold-viewer trifold-doc
	check "and leaves nothing but its users" same_as_before
}

if [ "${1:-}" = --inside ]; then
	tmp=$2 root=$3
	steps >"$tmp/tap" 2>&1
	touch "$tmp/inside.done"
	exit 0
fi

# --- out here

needed="dpkg-buildpackage:dpkg-dev dh:debhelper lintian:lintian blhc:blhc mmdebstrap:mmdebstrap"
[ "${1:-}" != --long ] || needed+=" faketime:faketime localedef:libc-bin"
for p in $needed; do
	if ! command -v "${p%:*}" >/dev/null; then
		echo "not ok - needs ${p%:*}: install the package ${p#*:}"
		exit 1
	fi
done
tmp=$(mktemp -d "${TMPDIR:-/tmp}/trifold-deb.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
mkdir "$tmp/old" "$tmp/new"

# what was built for all tests, so that what is done here changes nothing for others
build() {	# directory
	local debs
	debs=$(tests/install/debs.sh) && cp "$debs"/trifold*_* "$1/"
}

# from the source package, in all that should not matter
build_again() {
	local again=$tmp/another/directory
	mkdir -p "$again" "$tmp/locale" &&
		localedef -i tr_TR -f UTF-8 "$tmp/locale/tr_TR.UTF-8" &&
		(umask 077 && cd "$again" &&
		dpkg-source -x "$tmp/new/trifold_$version.dsc" source && cd source &&
		LOCPATH=$tmp/locale LC_ALL=tr_TR.UTF-8 TZ=Pacific/Kiritimati \
			DEB_BUILD_OPTIONS='nocheck parallel=1' \
			faketime -f +400d dpkg-buildpackage -us -uc -b </dev/null)
}

same_bytes() {
	local d n=0
	for d in "$tmp"/new/*.deb; do
		cmp "$d" "$tmp/another/directory/${d##*/}" || return 1
		sha256sum "$d"
		n=$((n + 1))
	done
	[ "$n" = 5 ]	# with those that have debug symbols
}

# modes, owners and names, as test_install.sh has them
holds() {	# package; the list is the input
	diff - <(dpkg-deb --fsys-tarfile "$tmp"/new/"$1"_*.deb | tar -tv |
		sed -nE 's|^([-l][^ ]+) ([^ ]+) .* \./(.*)$|\1 \2 \3|p' | sort)
}

wanted() {	# package
	local f
	{
		echo "changelog.gz"
		echo "copyright"
	} | sed "s|^|-rw-r--r-- root/root usr/share/doc/$1/|"
	sed 's/^-x /-rwxr-xr-x root\/root /; s/^-r /-rw-r--r-- root\/root /' <<-END
		$2
	END
}

list() {
	case $1 in
	trifold)
		cat <<-END
		-x usr/bin/trifold
		-r etc/trifold/trifold.conf
		-r usr/lib/sysusers.d/trifold.conf
		-r usr/lib/sysctl.d/50-trifold.conf
		-r usr/lib/tmpfiles.d/trifold.conf
		-r usr/share/bash-completion/completions/trifold
		-r usr/share/fish/vendor_completions.d/trifold.fish
		-r usr/share/zsh/vendor-completions/_trifold
		-r usr/share/lintian/overrides/trifold
		-r usr/share/man/man1/trifold.1.gz
		-r usr/share/man/man5/trifold.conf.5.gz
		END
		for f in exporterd loaderd start supervisor symbolizerd; do
			echo "-x usr/libexec/trifold/trifold-$f"
			echo "-r usr/share/man/man8/trifold-$f.8.gz"
		done
		for f in packaging/systemd/*.*; do
			[[ $f == *viewer* ]] || echo "-r $units/${f##*/}"
		done
		for f in packaging/apparmor/*; do
			[[ $f == *viewer* ]] || echo "-r etc/apparmor.d/${f##*/}"
		done ;;
	trifold-viewer)
		echo "-x usr/libexec/trifold/trifold-viewer"
		echo "-r etc/apparmor.d/trifold-viewer"
		for f in packaging/systemd/*viewer*; do
			echo "-r $units/${f##*/}"
		done
		echo "-r usr/share/lintian/overrides/trifold-viewer"
		echo "-r usr/share/man/man8/trifold-viewer.8.gz" ;;
	trifold-doc)
		for f in README.md docs/*.md docs/*.png; do
			echo "-r usr/share/doc/trifold/$f"
		done ;;
	esac
}

# the same with a lower number
older() {
	local d
	for d in "$tmp"/new/trifold{,-viewer,-doc}_*.deb; do
		rm -rf "$tmp/x"
		dpkg-deb -R "$d" "$tmp/x" &&
			sed -i "/^Version:/s/.*/Version: $old/; /^Depends:/s/(= $version)/(= $old)/" \
				"$tmp/x/DEBIAN/control" &&
			dpkg-deb --root-owner-group -Znone -b "$tmp/x" "$tmp/old" || return 1
	done
	rm -rf "$tmp/x"
}

# mirror REGEX: the first of this machine's sources that matches
mirror() {
	# shellcheck disable=SC2016	# the format is apt's
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
		2>/dev/null | grep -m 1 -E "$1"
}

in_a_root() {
	local from suite mode=unshare
	suite=${SUITE:-$(. /etc/os-release && echo "${VERSION_CODENAME:-sid}")}
	from=${TRIFOLD_MIRROR:-$(mirror '/debian/?$')}
	if [ -z "$from" ]; then
		echo "not ok - no source of Debian's packages: set TRIFOLD_MIRROR"
		return 1
	fi
	chmod 755 "$tmp"
	if [ "$(id -u)" = 0 ]; then
		mode=root
	else
		chmod 777 "$tmp"	# this user is another one in there
	fi
	mmdebstrap --mode=$mode --variant=apt --format=null \
		--aptopt='Acquire::Check-Valid-Until "false"' \
		--aptopt='Acquire::Languages "none"' --dpkgopt=force-unsafe-io \
		--customize-hook="'$here/tests/install/test_deb.sh' --inside '$tmp' \"\$1\"" \
		"$suite" /dev/null "deb $from $suite main" >"$tmp/mmdebstrap" 2>&1
	[ ! -e "$tmp/tap" ] || cat "$tmp/tap"
	if [ ! -e "$tmp/inside.done" ]; then
		tail -n 30 "$tmp/mmdebstrap" | sed 's/^/# /'
		echo "not ok - a root of $suite"
		return 1
	fi
	! grep -q '^not ok' "$tmp/tap"
}

check "the packages build" build "$tmp/new" || exit 1
for p in trifold trifold-viewer trifold-doc; do
	wanted $p "$(list $p)" | sort >"$tmp/wanted"
	check "what $p holds" holds $p <"$tmp/wanted"
done
check "lintian has nothing to say" tests/install/lintian.sh "$tmp"/new/trifold_*.changes
check "blhc has nothing to say" blhc --all --debian "$tmp"/new/trifold_*.build
check "the same with a lower number" older
in_a_root || failed=1
if [ "${1:-}" = --long ]; then
	check "the source package builds elsewhere, at another time" build_again
	check "the same bytes" same_bytes
fi
exit $failed
