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
INSTALL      ?= install
# writes manual pages; when cross-compiling, say where one is that runs here
RUN_TRIFOLD  ?= $(O)/bin/trifold

DAEMONS := $(filter-out trifold,$(PROGRAMS))
PAGES   := $(sort $(wildcard docs/man/*.[1-9] docs/man/*.in))
DOCS    := $(sort $(wildcard docs/*.md docs/*.png))

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

.PHONY: install uninstall FORCE
install: all
	$(INSTALL) -d $(addprefix $(DESTDIR),$(bindir) $(libexecdir)/trifold \
		$(sysconfdir)/trifold $(docdir)/docs $(bashcompdir) $(zshcompdir) \
		$(fishcompdir) $(mandir)/man1 $(mandir)/man5 $(mandir)/man8)
	$(INSTALL) -m 755 $(O)/bin/trifold $(DESTDIR)$(bindir)
	$(INSTALL) -m 755 $(DAEMONS:%=$(O)/bin/%) $(DESTDIR)$(libexecdir)/trifold
	$(INSTALL) -m 644 packaging/completion/trifold.bash $(DESTDIR)$(bashcompdir)/trifold
	$(INSTALL) -m 644 packaging/completion/trifold.zsh $(DESTDIR)$(zshcompdir)/_trifold
	$(INSTALL) -m 644 packaging/completion/trifold.fish $(DESTDIR)$(fishcompdir)/trifold.fish
	@set -e; for page in $(PAGES); do \
		name=$$(basename $$page .in); \
		to=$(DESTDIR)$(mandir)/man$${name##*.}/$$name; \
		echo "$(RUN_TRIFOLD) manual $$page > $$to"; \
		$(RUN_TRIFOLD) manual $$page > $$to; \
		sed -i 's|/usr/libexec/trifold|$(libexecdir)/trifold|g' $$to; \
		chmod 644 $$to; done
	$(INSTALL) -m 644 README.md LICENSE $(DESTDIR)$(docdir)
	$(INSTALL) -m 644 $(DOCS) $(DESTDIR)$(docdir)/docs
	$(INSTALL) -m 644 bpf/LICENSE $(DESTDIR)$(docdir)/LICENSE.bpf
	@# what somebody wrote there stays
	test -e $(DESTDIR)$(sysconfdir)/trifold/trifold.conf || $(INSTALL) \
		-m 644 packaging/trifold.conf $(DESTDIR)$(sysconfdir)/trifold

uninstall:
	rm -f $(DESTDIR)$(bindir)/trifold
	rm -f $(DAEMONS:%=$(DESTDIR)$(libexecdir)/trifold/%)
	rm -f $(addprefix $(DESTDIR),$(bashcompdir)/trifold \
		$(zshcompdir)/_trifold $(fishcompdir)/trifold.fish)
	rm -f $(foreach p,$(patsubst %.in,%,$(notdir $(PAGES))), \
		$(DESTDIR)$(mandir)/man$(patsubst .%,%,$(suffix $(p)))/$(p))
	rm -f $(addprefix $(DESTDIR)$(docdir)/,README.md LICENSE LICENSE.bpf $(DOCS))
	@# the configuration, unless somebody changed it
	! cmp -s packaging/trifold.conf \
		$(DESTDIR)$(sysconfdir)/trifold/trifold.conf || \
		rm -f $(DESTDIR)$(sysconfdir)/trifold/trifold.conf
	@rmdir $(addprefix $(DESTDIR),$(libexecdir)/trifold $(docdir)/docs \
		$(docdir) $(sysconfdir)/trifold) 2>/dev/null || :
