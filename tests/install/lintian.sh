#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# lintian, everything that it can say: silence is success.  The tags below are not
# asked for, each with its reason; none is of a binary package.
#
#   tests/install/lintian.sh FILE.changes
set -eu
version=$(lintian --print-version)

# long lines are in seeds of fuzz targets, and in a table of Markdown
tags=very-long-line-length-in-source-file
if dpkg --compare-versions "$version" lt 2.143; then
	# it does not know the policy that debian/control names
	tags=$tags,newer-standards-version
fi
if dpkg --compare-versions "$version" lt 2.117; then
	# of units without an init script; policy 4.5.0 wants none, and later there is no such tag
	tags=$tags,package-supports-alternative-init-but-no-init.d-script
fi
if dpkg --compare-versions "$version" ge 2.123; then
	# fields and level that are the default of newer tools alone: Debian 12 needs them
	tags=$tags,redundant-priority-optional-field,redundant-rules-requires-root-no-field
	tags=$tags,package-uses-old-debhelper-compat-version
fi
said=$(lintian --pedantic --display-info --display-experimental --tag-display-limit 0 \
	--suppress-tags "$tags" --allow-root "$1" 2>&1) && status=0 || status=$?
[ -z "$said" ] || echo "$said"
[ "$status" = 0 ] && [ -z "$said" ]
