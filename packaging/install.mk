# SPDX-License-Identifier: Apache-2.0
#
# make install, make uninstall: docs/PACKAGING.md says what goes where.

PREFIX       ?= /usr
prefix       ?= $(PREFIX)
bindir       ?= $(prefix)/bin
libexecdir   ?= $(prefix)/libexec
sysconfdir   ?= /etc
datadir      ?= $(prefix)/share
mandir       ?= $(datadir)/man
docdir       ?= $(datadir)/doc/trifold
# where shells look for completions of packages; Debian's zsh:
# $(datadir)/zsh/vendor-completions
bashcompdir  ?= $(datadir)/bash-completion/completions
zshcompdir   ?= $(datadir)/zsh/site-functions
fishcompdir  ?= $(datadir)/fish/vendor_completions.d
# for systemd-sysusers and systemd-tmpfiles, which packages call
sysusersdir  ?= $(prefix)/lib/sysusers.d
tmpfilesdir  ?= $(prefix)/lib/tmpfiles.d
unitdir      ?= $(prefix)/lib/systemd/system
# with SELINUX=1: the module, for semodule(8), and its interfaces for other modules
selinuxdir   ?= $(datadir)/selinux/packages
selinuxifdir ?= $(datadir)/selinux/devel/include/distributed
# AppArmor's profiles; empty: none
apparmordir  ?= $(sysconfdir)/apparmor.d
INSTALL      ?= install

DAEMONS := $(filter-out trifold,$(PROGRAMS))
PAGES   := $(sort $(wildcard docs/man/*.[1-9]))
UNITS   := $(sort $(wildcard packaging/systemd/*.*))
APPARMOR = $(if $(apparmordir),$(sort $(wildcard packaging/apparmor/*)))
DOCS    := $(sort $(wildcard docs/*.md docs/*.png))

# All that is installed, as SOURCE:DESTINATION.  Manual pages get the directories
# that were chosen, and the configuration stays if there is one; the others are copied.
PROGRAM_FILES = $(O)/bin/trifold:$(bindir)/trifold \
	$(foreach d,$(DAEMONS),$(O)/bin/$(d):$(libexecdir)/trifold/$(d))
DATA_FILES = packaging/completion/trifold.bash:$(bashcompdir)/trifold \
	packaging/completion/trifold.zsh:$(zshcompdir)/_trifold \
	packaging/completion/trifold.fish:$(fishcompdir)/trifold.fish \
	packaging/sysusers.conf:$(sysusersdir)/trifold.conf \
	packaging/tmpfiles.conf:$(tmpfilesdir)/trifold.conf \
	$(foreach u,$(UNITS),$(O)/$(u):$(unitdir)/$(notdir $(u))) \
	$(foreach p,$(APPARMOR),$(O)/$(p):$(apparmordir)/$(notdir $(p))) \
	$(foreach f,README.md LICENSE $(DOCS),$(f):$(docdir)/$(f)) \
	bpf/LICENSE:$(docdir)/LICENSE.bpf $(if $(SELINUX),$(O)/selinux/trifold.pp:$(selinuxdir)/trifold.pp \
	selinux/trifold.if:$(selinuxifdir)/trifold.if)
MANUAL_FILES = $(foreach p,$(PAGES),$(p):$(mandir)/man$(patsubst \
	.%,%,$(suffix $(p)))/$(notdir $(p)))
CONFIG_FILES = packaging/trifold.conf:$(sysconfdir)/trifold/trifold.conf
places = $(foreach f,$(1),$(DESTDIR)$(lastword $(subst :, ,$(f))))

# `trifold completion` writes them as well
$(O)/packaging/completion/%.o.c: packaging/completion/trifold.%
	$(call page_bytes,completion_$*)

# trifold looks for the daemons beside itself, then here
$(O)/libexecdir: FORCE
	@mkdir -p $(@D)
	@echo '$(libexecdir)/trifold' | cmp -s - $@ || \
		echo '$(libexecdir)/trifold' > $@
$(O)/cli/config/libexec.o $(O)/cli/front/start.o: $(O)/libexecdir
$(O)/cli/config/libexec.o $(O)/cli/front/start.o: CPPFLAGS += -DLIBEXEC='"$(libexecdir)/trifold"'

# with the directories that were chosen
$(UNITS:%=$(O)/%) $(APPARMOR:%=$(O)/%): $(O)/%: % FORCE
	@mkdir -p $(@D)
	@sed 's|/usr/libexec/trifold/|$(libexecdir)/trifold/|; s|/usr/bin/trifold |$(bindir)/trifold |' $< > $@

.PHONY: install uninstall FORCE
install: all $(UNITS:%=$(O)/%) $(APPARMOR:%=$(O)/%) $(if $(SELINUX),selinux)
	$(INSTALL) -d $(sort $(dir $(call places,$(PROGRAM_FILES) $(DATA_FILES) \
		$(MANUAL_FILES) $(CONFIG_FILES))))
	@set -e; copy() { \
		echo "$(INSTALL) -m $$1 $${2%%:*} $(DESTDIR)$${2#*:}"; \
		$(INSTALL) -m $$1 $${2%%:*} $(DESTDIR)$${2#*:}; }; \
	for f in $(PROGRAM_FILES); do copy 755 $$f; done; \
	for f in $(DATA_FILES); do copy 644 $$f; done; \
	for f in $(CONFIG_FILES); do \
		test -e $(DESTDIR)$${f#*:} || copy 644 $$f; done; \
	for f in $(MANUAL_FILES); do \
		copy 644 $$f; \
		sed -i 's|/usr/libexec/trifold|$(libexecdir)/trifold|g' $(DESTDIR)$${f#*:}; done

uninstall:
	rm -f $(call places,$(PROGRAM_FILES) $(DATA_FILES) $(MANUAL_FILES))
	@# the configuration, unless somebody changed it
	@for f in $(CONFIG_FILES); do \
		! cmp -s $${f%%:*} $(DESTDIR)$${f#*:} || \
			rm -f $(DESTDIR)$${f#*:}; done
	@rmdir $(addprefix $(DESTDIR),$(libexecdir)/trifold $(docdir)/docs \
		$(docdir) $(sysconfdir)/trifold) 2>/dev/null || :
