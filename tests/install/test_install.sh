#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# make install puts each file where it belongs, and nothing else; what is
# installed runs; make uninstall takes it away.  No root.
# Usage: test_install.sh [BUILD-DIR]
cd "$(dirname "$0")/../.." || exit 1
O=${1:-build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

check() {	# name, command...
	local name=$1
	shift
	if "$@" >"$tmp/log" 2>&1; then
		echo "ok - $name"
	else
		tail -n 30 "$tmp/log" | sed 's/^/# /'
		echo "not ok - $name"
		failed=1
	fi
}

run_make() {
	make -j2 O="$O" "$@" </dev/null
}

wanted() {
	cat <<-END
	644 etc/trifold/trifold.conf
	755 usr/bin/trifold
	644 usr/lib/sysusers.d/trifold.conf
	644 usr/lib/tmpfiles.d/trifold.conf
	644 usr/share/bash-completion/completions/trifold
	644 usr/share/doc/trifold/LICENSE
	644 usr/share/doc/trifold/LICENSE.bpf
	644 usr/share/doc/trifold/README.md
	644 usr/share/fish/vendor_completions.d/trifold.fish
	644 usr/share/zsh/site-functions/_trifold
	END
	for f in "$O"/bin/trifold-*; do
		echo "755 usr/libexec/trifold/${f##*/}"
	done
	for f in packaging/systemd/*.*; do
		echo "644 usr/lib/systemd/system/${f##*/}"
	done
	for f in packaging/apparmor/*; do
		echo "644 etc/apparmor.d/${f##*/}"
	done
	for f in docs/*.md docs/*.png; do
		echo "644 usr/share/doc/trifold/$f"
	done
	for f in docs/man/*; do
		f=$(basename "$f")
		echo "644 usr/share/man/man${f##*.}/$f"
	done
}

files_of() {
	(cd "$1" && find . ! -type d -printf '%m %P\n' | sort)
}

same_list() {
	diff <(wanted | sort) <(files_of "$1")
}

# a package: a DESTDIR, and a strict umask that must not matter
umask 077
check "installs below DESTDIR" run_make install DESTDIR="$tmp/root"
check "every file is where it belongs, and no other" same_list "$tmp/root"
no_marks() { ! grep -r '^@[A-Z]*@$' "$tmp/root/usr/share"; }
check "no list is left out of a manual page" no_marks
check "a directory can be entered by everybody" \
	[ -z "$(find "$tmp/root/"* -type d ! -perm 755)" ]
echo '# mine' >>"$tmp/root/etc/trifold/trifold.conf"
check "installs again" run_make install DESTDIR="$tmp/root"
check "and keeps a configuration that was changed" \
	grep -q '^# mine$' "$tmp/root/etc/trifold/trifold.conf"
check "uninstalls" run_make uninstall DESTDIR="$tmp/root"
check "but for that configuration" \
	[ "$(files_of "$tmp/root")" = "644 etc/trifold/trifold.conf" ]

# from source, into a place of its own
own="prefix=$tmp/own sysconfdir=$tmp/own/etc"
check "installs below another prefix" run_make install $own
version_is() { [[ $("$tmp/own/bin/trifold" --version) == "trifold "* ]]; }
check "the installed command says its version" version_is
rules() { (cd / && "$tmp/own/bin/trifold" table /bin/ls) | grep -q 'cfa='; }
check "it finds the daemons there" rules
check "its manual page says where they are" \
	grep -q "$tmp/own/libexec/trifold" "$tmp/own/share/man/man1/trifold.1"
check "uninstalls that too" run_make uninstall $own
check "and leaves nothing" [ -z "$(files_of "$tmp/own")" ]
umask 022
check "and the build is as it was" run_make all
exit $failed
