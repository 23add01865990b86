# SPDX-License-Identifier: Apache-2.0
#
# make deb: docs/PACKAGING.md, Debian.

.PHONY: deb
deb:
	packaging/deb/make_deb.sh $(O)/deb
