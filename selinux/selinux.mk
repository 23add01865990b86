# SPDX-License-Identifier: Apache-2.0
#
# make selinux: $(O)/selinux/trifold.pp, of the policy's development files

SELINUX_DEVEL ?= /usr/share/selinux/devel
SELINUX_FILES := $(wildcard selinux/trifold.te selinux/trifold.if selinux/trifold.fc)

.PHONY: selinux
selinux: $(O)/selinux/trifold.pp
$(O)/selinux/trifold.pp: $(SELINUX_FILES)
	@test -e $(SELINUX_DEVEL)/Makefile || { echo "make selinux needs $(SELINUX_DEVEL)/Makefile:" \
		"install selinux-policy-dev (Debian) or selinux-policy-devel (Fedora)" >&2; exit 1; }
	@rm -rf $(@D) && mkdir -p $(@D) && cp $(SELINUX_FILES) $(@D)/
	@sed -i 's|^/usr/libexec/trifold/|$(libexecdir)/trifold/|' $(@D)/trifold.fc
	$(call say,POLICY)
	$(Q)$(MAKE) -s -C $(@D) -f $(SELINUX_DEVEL)/Makefile trifold.pp
