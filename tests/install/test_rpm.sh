#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# make rpm: what the packages hold, need and run; that rpmlint has nothing to
# say; that two builds are the same bytes; and, as root, that rpm installs,
# upgrades and erases them in a copy of this system that is thrown away.
# Usage: test_rpm.sh [--long]	RPM_CHECK=1: with %check, some minutes
# --long: also built a second time, elsewhere and in another way: the same bytes.
cd "$(dirname "$0")/../.." || exit 1
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

same() {	# the two lists are equal; $1 is what is wanted
	diff <(echo "$1" | sort -u | sed '/^$/d') <(echo "$2" | sort -u | sed '/^$/d')
}

# --- what is wanted

ROOT_LIBEXEC="exporterd loaderd start supervisor symbolizerd"

# package, mode, owner, path
wanted_files() {
	local f page
	cat <<-END
	trifold 100755 root:root /usr/bin/trifold
	trifold 40755 root:root /usr/libexec/trifold
	trifold 40755 root:root /etc/trifold
	trifold 100644 root:root /etc/trifold/trifold.conf
	trifold 100644 root:root /usr/lib/sysusers.d/trifold.conf
	trifold 100644 root:root /usr/lib/tmpfiles.d/trifold.conf
	trifold 100644 root:root /usr/share/bash-completion/completions/trifold
	trifold 100644 root:root /usr/share/fish/vendor_completions.d/trifold.fish
	trifold 100644 root:root /usr/share/zsh/site-functions/_trifold
	trifold 40755 root:root /usr/share/doc/trifold
	trifold 100644 root:root /usr/share/doc/trifold/README.md
	trifold 40755 root:root /usr/share/licenses/trifold
	trifold 100644 root:root /usr/share/licenses/trifold/LICENSE
	trifold 100644 root:root /usr/share/licenses/trifold/LICENSE.bpf
	trifold-viewer 40755 root:root /usr/libexec/trifold
	trifold-viewer 100755 root:root /usr/libexec/trifold/trifold-viewer
	trifold-selinux 100644 root:root /usr/share/selinux/packages/targeted/trifold.pp.bz2
	trifold-selinux 100644 root:root /usr/share/selinux/devel/include/distributed/trifold.if
	trifold-selinux 100700 root:root /var/lib/selinux/targeted/active/modules/200/trifold
	trifold-selinux 40755 root:root /usr/share/doc/trifold-selinux
	trifold-selinux 100644 root:root /usr/share/doc/trifold-selinux/README.md
	trifold-selinux 40755 root:root /usr/share/licenses/trifold-selinux
	trifold-selinux 100644 root:root /usr/share/licenses/trifold-selinux/LICENSE
	trifold-doc 40755 root:root /usr/share/doc/trifold
	trifold-doc 40755 root:root /usr/share/doc/trifold/docs
	trifold-doc 40755 root:root /usr/share/licenses/trifold-doc
	trifold-doc 100644 root:root /usr/share/licenses/trifold-doc/LICENSE
	END
	for f in $ROOT_LIBEXEC; do
		echo "trifold 100755 root:root /usr/libexec/trifold/trifold-$f"
	done
	for f in packaging/systemd/*.*; do
		f=${f##*/}
		case $f in
		*viewer*)	echo -n trifold-viewer ;;
		*)		echo -n trifold ;;
		esac
		echo " 100644 root:root /usr/lib/systemd/system/$f"
	done
	for f in docs/man/*; do
		page=$(basename "$f")
		case $page in
		trifold-viewer.8)	echo -n trifold-viewer ;;
		*)			echo -n trifold ;;
		esac
		echo " 100644 root:root /usr/share/man/man${page##*.}/$page.gz"
	done
	for f in docs/*.md docs/*.png; do
		echo "trifold-doc 100644 root:root /usr/share/doc/trifold/$f"
	done
}

# What the packages need beside the libraries; rpm's own features are left out.
wanted_requires() {
	cat <<-END
	trifold /bin/sh
	trifold config(trifold) = $release
	trifold shadow-utils
	trifold (trifold-selinux = $release if selinux-policy-targeted)
	trifold-selinux /bin/sh
	trifold-selinux policycoreutils
	trifold-selinux selinux-policy-targeted
	trifold-viewer /bin/sh
	trifold-viewer trifold($isa) = $release
	END
}

wanted_provides() {
	cat <<-END
	trifold config(trifold) = $release
	trifold trifold = $release
	trifold trifold($isa) = $release
	trifold-doc trifold-doc = $release
	trifold-selinux trifold-selinux = $release
	trifold-viewer trifold-viewer = $release
	trifold-viewer trifold-viewer($isa) = $release
	END
}

# --- asking rpm about the files in $rpms

ask() {	# format
	local p
	for p in "${rpms[@]}"; do
		rpm -qp --qf "$1" "$p"
	done
}

files_are() {
	same "$(wanted_files)" "$(all_files | grep -v ' /usr/lib/\.build-id')"
}
all_files() {
	ask '[%{=NAME} %{FILEMODES:octal} %{FILEUSERNAME}:%{FILEGROUPNAME} %{FILENAMES}\n]'
}
build_ids() {
	[ "$(all_files | grep -c ' 120777 root:root /usr/lib/\.build-id/')" = \
		"$(wanted_files | grep -c ' 100755 ')" ]
}

requires() {	# grep's options and pattern
	ask '[%{=NAME} %{REQUIRENEVRS}\n]' | grep -v ' rpmlib(' | grep "$@"
}

others_are() {
	same "$(wanted_requires)" "$(requires -vE ' (lib[^ ]*\.so|ld-linux|rtld\()')"
}

# NEEDED of every program, as rpm names it, without the versions of symbols
needed() {
	local p name f
	for p in "${rpms[@]}"; do
		name=$(rpm -qp --qf '%{NAME}' "$p")
		mkdir -p "$tmp/files/$name"
		(cd "$tmp/files/$name" && rpm2cpio "$p" | cpio -idm --quiet)
		while read -r f; do
			readelf -d "$f" 2>/dev/null |
				sed -n "s/.*(NEEDED).*\[\(.*\)\]/$name \1/p"
		done < <(find "$tmp/files/$name" -type f -perm -100)
	done
}

libraries_are() {
	local needs
	needs=$(needed)
	[ "$(echo "$needs" | wc -l)" -ge 20 ] || return 1
	same "$needs" "$(requires -E ' (lib[^ ]*\.so|ld-linux)' | sed 's/(.*//')"
}

provides_are() {
	same "$(wanted_provides)" "$(ask '[%{=NAME} %{PROVIDENEVRS}\n]')"
}

# what makes the users, before the files; and what systemd is told of its units
scripts_are() {
	local kinds="PREIN PREUN POSTIN POSTUN PRETRANS POSTTRANS PREUNTRANS POSTUNTRANS"
	local k all=
	for k in $kinds; do
		all+=$(ask "%|$k?{%{NAME} $k\n}|")$'\n'
	done
	same "$(printf '%s\n' "trifold PREIN" {trifold,trifold-viewer}" "{POSTIN,PREUN,POSTUN} \
		"trifold-selinux "{PREIN,POSTIN,POSTUN,POSTTRANS})" \
		"$all" &&
		same "$(users)" "$(rpm -qp --qf '%{PREIN}\n' "${rpms[0]}" |
		sed -n "s/^useradd .* \(.*\) || :\$/\1/p")"
}

# every unit that is enabled or restarted is there
units_are() {
	local u n=0
	for u in $(ask '%{POSTIN}\n%{PREUN}\n%{POSTUN}\n' | grep -v '^selinux' | grep -o 'trifold[a-z-]*\.[a-z]*'); do
		[ -e "packaging/systemd/$u" ] || return 1
		n=$((n + 1))
	done
	[ $n = 9 ]
}

# --- in a copy of this system

in_root() {
	rpm --root "$tmp/root" --dbpath /var/lib/trifold-test "$@"
}

# what is not as in this system, but for rpm's database and the users
changed() {
	(cd "$tmp/over/upper" && find . -mindepth 1 ! -type d -print |
		grep -vE '^\./(var/(lib/trifold-test|log)/|etc/(passwd|group|g?shadow|sub[ug]id)-?$)' |
		grep -v '^\./etc/\.pwd\.lock$')
	# directories of ours
	(cd "$tmp/root" && find etc/trifold usr/libexec/trifold usr/share/doc/trifold* \
		usr/share/licenses/trifold* -type d 2>/dev/null)
}

unmet() { in_root -i --test "$@" 2>&1 | sed -n 's/^\t\(.*\) is needed by .*/\1/p'; }
unmet_is_all() {
	same "$(ask '[%{REQUIRENEVRS}\n]' |
		grep -vE '^(rpmlib\(|config\(|\(?trifold)')" \
		"$(unmet "${rpms[@]}")"
}
viewer_alone() { unmet "$(one trifold-viewer 1)" | grep -qF "trifold($isa) = $release"; }
one() { echo "$tmp/rpms$2/$1"-[0-9]*.rpm; }
installed() { in_root -qa --qf '%{NAME} %{RELEASE}\n'; }
installed_are() { same "$1" "$(installed)"; }
users() { sed -n 's/^u \([^ ]*\) .*/\1/p' packaging/sysusers.conf; }
users_exist() {
	local user
	while read -r user; do
		chroot "$tmp/root" id "$user" | grep -q "gid=[0-9]*($user)" || return 1
	done < <(users)
}
runs() {
	local says
	says=$(chroot "$tmp/root" /usr/bin/trifold --version) &&
		[ "$says" = "trifold ${release%-*}" ]
}
verified() { [ -z "$(in_root -V --nodeps trifold trifold-viewer trifold-doc trifold-selinux)" ]; }

selinux_pp=/usr/share/selinux/packages/targeted/trifold.pp.bz2
# what scripts asked of SELinux's macros since it was asked last
selinux_said() {
	local log=$tmp/root/var/log/selinux-said
	diff <(printf '%s\n' "$@") "$log" && rm "$log"
}

inside() {
	local now all=("$tmp"/rpms1/*.rpm) next=("$tmp"/rpms2/*.rpm)
	conf=$tmp/root/etc/trifold/trifold.conf
	mkdir "$tmp/over" "$tmp/root"
	if ! { mount -t tmpfs tmpfs "$tmp/over" && mkdir "$tmp/over/upper" "$tmp/over/work" &&
		mount -t overlay overlay "$tmp/root" -o \
		"lowerdir=/,upperdir=$tmp/over/upper,workdir=$tmp/over/work"; } 2>"$tmp/log"; then
		echo "ok - installs # SKIP no overlay file system: $(head -n 1 "$tmp/log")"
		return
	fi
	mount --bind /dev "$tmp/root/dev"
	rpmdb --root "$tmp/root" --dbpath /var/lib/trifold-test --initdb
	check "rpm misses every library, and nothing that is in the packages" unmet_is_all
	check "the viewer alone misses trifold" viewer_alone
	mkdir -p "$tmp/root/usr/sbin"
	printf '#!/bin/sh\necho "$*" >>/var/log/selinux-said\n' >"$tmp/root/usr/sbin/selinux-said"
	chmod 755 "$tmp/root/usr/sbin/selinux-said"
	now=$(changed)
	check "installs" in_root -i --nodeps "${all[@]}"
	check "rpm finds all as it was packaged" verified
	check "its users are there" users_exist
	check "the policy's module is loaded, and files have new labels" selinux_said \
		"before targeted" "install targeted $selinux_pp" "after targeted"
	check "trifold runs" runs
	check "and finds the daemons" table_in_root
	echo '# mine' >>"$conf"
	check "upgrades" in_root -U --nodeps "${next[@]}"
	check "the module is replaced, and not taken out" selinux_said \
		"before targeted" "install targeted $selinux_pp" "after targeted"
	check "to the next release, and no other is left" \
		installed_are "$(printf 'trifold%s 2\n' "" -viewer -doc -selinux)"
	check "a configuration that was changed is kept" grep -q '^# mine$' "$conf"
	check "the new one is beside it" grep -q '^# release 2$' "$conf.rpmnew"
	check "trifold stays while the viewer needs it" eval '! in_root -e trifold'
	check "the viewer goes alone" in_root -e trifold-viewer
	check "it took its files with it" \
		[ ! -e "$tmp/root/usr/libexec/trifold/trifold-viewer" ]
	rm "$conf.rpmnew"
	check "erases" in_root -e trifold trifold-doc trifold-selinux
	check "the module is taken out" selinux_said "uninstall targeted trifold"
	check "and leaves the changed configuration alone" \
		same "$now$(printf '\n./etc/trifold/trifold.conf.rpmsave\netc/trifold')" "$(changed)"
	rm -r "$tmp/root/etc/trifold"
	check "installs once more" in_root -i --nodeps "${all[@]}"
	check "the next release brings its configuration where nobody changed it" \
		upgraded_conf "${next[@]}"
	check "erases" in_root -e trifold trifold-viewer trifold-doc trifold-selinux
	check "and leaves nothing" same "$now" "$(changed)"
}
table_in_root() { chroot "$tmp/root" /usr/bin/trifold table /bin/ls | grep -q 'cfa='; }
upgraded_conf() {
	in_root -U --nodeps "$@" && grep -q '^# release 2$' "$conf" &&
		[ ! -e "$conf.rpmnew" ] && [ ! -e "$conf.rpmsave" ]
}

# --- building

# a repository of its own with the files as they are here
clone() {	# directory
	mkdir -p "$1"
	if [ -e .git ]; then
		git ls-files -z --cached --others --exclude-standard |
			tar --null --ignore-failed-read -T - -cf - 2>/dev/null | tar -x -C "$1"
	else
		tar --exclude=./build --exclude=./build-* -cf - . | tar -x -C "$1"
	fi
	(
		cd "$1" || exit 1
		export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
		export GIT_AUTHOR_DATE="2038-01-01 00:00 +0000" GIT_COMMITTER_DATE="2038-01-01 00:00 +0000"
		git init -q -b main && git add -A && git -c user.name=test \
			-c user.email=test@localhost commit -q -m test
	)
}

build() {	# directory
	mkdir "$1-built"
	make -C "$1" rpm RPM_BUILD="$1-built" RPMFLAGS="--load=$tmp/macros $without" </dev/null
}

# The next release of what is built in a directory, with a new configuration.
next_release() {
	local top=$1/build/rpm
	echo '# release 2' >>"$(echo "$1-built"/trifold-*/packaging/trifold.conf)"
	for stage in -bi -bb; do
		rpmbuild "$stage" --short-circuit --noclean --nodeps --without check \
			--define "_topdir $top" --define "_builddir $1-built" \
			--define 'baserelease 2' \
			--load="$tmp/macros" "$top/SPECS/trifold.spec" || return 1
	done
	mv "$top"/RPMS/*/*-2.*.rpm "$tmp/rpms2"
}

# In place of systemd-rpm-macros and those of selinux-policy, which Debian has not: what Fedora before 42
# and RHEL before 11 make of a file in sysusers.d.  And Debian's brp-compress
# is run by a shell that does not understand it; and -O1 takes less time, as does a build
# without debug information, which --long has: names of directories are in it.
macros() {	# --long
	local debug=
	[ "$1" != --long ] || debug=" -g"
	cat >"$tmp/users.sh" <<-'END'
	while read -r kind user id gecos; do
		[[ $kind == [ug] ]] && [ "$id" = - ] || continue
		echo "getent group $user >/dev/null || groupadd -r $user || :"
		[ "$kind" = u ] || continue
		echo "getent passwd $user >/dev/null || \\"
		echo "useradd -r -g $user -d / -s /usr/sbin/nologin -c $gecos $user || :"
	done <"$1"
	END
	cat >"$tmp/macros" <<-END
	%_sysusersdir /usr/lib/sysusers.d
	%_tmpfilesdir /usr/lib/tmpfiles.d
	%sysusers_requires_compat Requires(pre): shadow-utils
	%sysusers_create_compat() %(bash $tmp/users.sh %1)
	%_sharedstatedir /var/lib
	%_unitdir /usr/lib/systemd/system
	%systemd_post() systemd-update-helper install-system-units %* || :
	%systemd_preun() systemd-update-helper remove-system-units %* || :
	%systemd_postun_with_restart() systemd-update-helper mark-restart-system-units %* || :
	%selinux_requires Requires(post): policycoreutils
	%selinux_relabel_pre(s:) selinux-said before %{-s*}
	%selinux_modules_install(s:) selinux-said install %{-s*} %*
	%selinux_modules_uninstall(s:) selinux-said uninstall %{-s*} %*
	%selinux_relabel_post(s:) selinux-said after %{-s*}
	%optflags -O1$debug
	%__brp_compress bash %{_rpmconfigdir}/brp-compress %{_prefix}
	END
}

same_bytes() {
	(cd "$tmp/a/build/rpm" && find . -name '*-1.*.rpm' -exec sha256sum {} + | sort -k 2) >"$tmp/sums"
	[ "$(wc -l <"$tmp/sums")" = 5 ] && (cd "$tmp/b/elsewhere/build/rpm" && sha256sum -c "$tmp/sums")
}

in_another_way() {
	(umask 077; TZ=Asia/Kolkata LC_ALL=C.UTF-8 USER=somebody "$@")
}

version_is() {
	[ "trifold ${release%-*}" = "$("$tmp/files/trifold/usr/bin/trifold" --version)" ]
}

lint() {
	local says
	says=$(rpmlint -c packaging/rpm/rpmlint.toml "$@" 2>&1)
	echo "$says"
	echo "$says" | grep -q ' 0 errors, 0 warnings'
}

# a tree without .git: what comes out of a source archive
from_archive() {
	rm -rf "$tmp/b/elsewhere/.git" && make -C "$tmp/b/elsewhere" srpm </dev/null &&
		same "$(tar -tf "$tmp/a/build/rpm/SOURCES"/trifold-*.tar.gz | grep -v '/$')" \
		"$(tar -tf "$tmp/b/elsewhere/build/rpm/SOURCES"/trifold-*.tar.gz | grep -v '/$')" &&
		[ -e "$(echo "$tmp/b/elsewhere/build/rpm/SRPMS"/trifold-*.src.rpm)" ]
}

if [ "${1:-}" = inside ]; then
	tmp=$2 isa=$3 release=$4
	rpms=("$(one trifold 1)" "$(one trifold-viewer 1)" "$(one trifold-doc 1)" "$(one trifold-selinux 1)")
	inside
	exit $failed
fi

for tool in rpmbuild rpmlint cpio git readelf; do
	if ! command -v $tool >/dev/null; then
		echo "ok - make rpm # SKIP no $tool"
		exit 0
	fi
done
tmp=$(mktemp -d)
export HOME=$tmp	# macros and database of the user are not asked
trap 'rm -rf "$tmp"' EXIT
without="--without check"
[ -z "${RPM_CHECK:-}" ] || without=
macros "${1:-}"
mkdir "$tmp/rpms1" "$tmp/rpms2"
clone "$tmp/a"
clone "$tmp/b/elsewhere"
check "make rpm builds" build "$tmp/a"
[ $failed = 0 ] || exit 1
if [ "${1:-}" = --long ]; then
	check "make rpm builds elsewhere" in_another_way build "$tmp/b/elsewhere"
	check "the same source is the same bytes" same_bytes
fi
check "a source archive makes the same source package" from_archive
srpm=$(echo "$tmp/a/build/rpm/SRPMS"/*.rpm)
cp "$tmp/a/build/rpm/RPMS"/*/*.rpm "$tmp/rpms1"
rpms=("$(one trifold 1)" "$(one trifold-viewer 1)" "$(one trifold-doc 1)" "$(one trifold-selinux 1)")
release=$(rpm -qp --qf '%{VERSION}-%{RELEASE}' "${rpms[0]}")
isa=$(rpm --eval '%{__isa}')
check "rpmlint finds nothing" lint "$tmp/a/build/rpm/SPECS/trifold.spec" "$srpm" "${rpms[@]}"
check "every file is in its package, with its mode, and no other" files_are
check "each program has its build ID" build_ids
check "the configuration is marked as such" \
	[ "$(ask '[%{FILENAMES} %{FILEFLAGS:fflags}\n]' | grep ' .*c')" = \
	"/etc/trifold/trifold.conf cn" ]
check "they need the libraries of their programs, and no other" libraries_are
check "and nothing else" others_are
check "they provide what they are" provides_are
check "scripts make the users, and tell systemd" scripts_are
check "of units that are there" units_are
check "the version is that of the program" version_is
if [ "$(id -u)" = 0 ]; then
	check "the next release builds" next_release "$tmp/a"
	unshare -m --propagation private "$0" inside "$tmp" "$isa" "$release" || failed=1
else
	echo "ok - installs # SKIP needs root"
fi
exit $failed
