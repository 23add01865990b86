# SPDX-License-Identifier: Apache-2.0
#
# make rpm     source and binary packages below $(O)/rpm: docs/PACKAGING.md
# make srpm    the source package alone, for mock
#                RPMFLAGS="--without check"  more options of rpmbuild
#                RPM_BUILD=DIR               builds there and leaves it, for a look

RPMBUILD ?= rpmbuild
RPMFLAGS ?=
RPM_TOP  := $(abspath $(O))/rpm
RPM_SPEC := $(RPM_TOP)/SPECS/trifold.spec
# the version has one place
RPM_VERSION = $(shell sed -n 's/^.define TRIFOLD_VERSION[[:blank:]]*"\(.*\)"$$/\1/p' \
	profile/formats/otlp.h)
RPM_NAME = trifold-$(RPM_VERSION)
# the last entry of the changelog is the date of all that is newer
RPM_DATE = $(shell sed -n '/^%changelog/,$$s/^\* \(.* 20[0-9][0-9]\) .*/\1/p' \
	packaging/rpm/trifold.spec | head -n 1)
# no date, no host and no path of this build goes into a package
RPM_RUN = $(RPMBUILD) --define '_topdir $(RPM_TOP)' --define '_buildhost reproducible' \
	--define 'source_date_epoch_from_changelog 1' \
	--define 'use_source_date_epoch_as_buildtime 1' \
	--define 'clamp_mtime_to_source_date_epoch 1'
# where packages are not rpm's, its database cannot say what is installed
RPM_NODEPS = $$({ [ -d "$$(rpm --eval %_dbpath)" ] && rpm -q rpm; } >/dev/null 2>&1 || \
	echo --nodeps)

.PHONY: rpm srpm rpm-sources
# what is committed; without a repository all files
rpm-sources:
	@rm -rf $(RPM_TOP)
	@umask 022; mkdir -p $(RPM_TOP)/SPECS $(RPM_TOP)/SOURCES
	@umask 022; sed 's/@VERSION@/$(RPM_VERSION)/' packaging/rpm/trifold.spec > $(RPM_SPEC)
	@install -m 644 packaging/sysusers.conf $(RPM_TOP)/SOURCES/trifold.sysusers
	@set -e; umask 022; tar=$(RPM_TOP)/SOURCES/$(RPM_NAME).tar; if [ -e .git ]; then \
		git archive --prefix=$(RPM_NAME)/ -o $$tar HEAD; \
		[ -z "$$(git status --porcelain)" ] || \
			echo "make rpm: changes that are not committed are left out" >&2; \
	else \
		tar --format=gnu --sort=name --owner=0 --group=0 --numeric-owner \
			--mode=u+rw,go+rX,go-w --mtime="$(RPM_DATE) UTC" \
			--exclude=./$(patsubst $(CURDIR)/%,%,$(abspath $(O))) \
			--exclude=__pycache__ --transform='s,^\.,$(RPM_NAME),S' -cf $$tar .; \
	fi; gzip -n -9 $$tar

# rpm keeps the spec with all macros expanded in there: no name of this directory
srpm: rpm-sources
	cd $(RPM_TOP)/SOURCES && $(RPM_RUN) --define '_sourcedir .' \
		--define '_builddir /builddir/build/BUILD' \
		--define '_buildrootdir /builddir/build/BUILDROOT' \
		-bs --nodeps $(RPMFLAGS) $(RPM_SPEC)

# built outside of $(O): make reads all .d files in there, and some tests are in D
rpm: srpm
	@set -e; dir="$(RPM_BUILD)"; \
	[ -n "$$dir" ] || { dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; }; \
	$(RPM_RUN) --define "_builddir $$dir" $(if $(RPM_BUILD),--noclean) \
		-bb $(RPM_NODEPS) $(RPMFLAGS) $(RPM_SPEC)
	@find $(RPM_TOP)/SRPMS $(RPM_TOP)/RPMS -name '*.rpm'
