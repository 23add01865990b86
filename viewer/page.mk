# SPDX-License-Identifier: Apache-2.0
#
# The pages, put together of viewer/page/ and then made an array of bytes:
#	page_html, page_html_len	what `trifold record` writes (profile/formats/html.c)
#	live_html, live_html_len	what `trifold run` serves

$(O)/viewer/%.html: viewer/page.sh ipc/frame_kinds.def bpf/runtimes.def $(wildcard viewer/page/*)
	@mkdir -p $(@D)
	$(call say,PAGE)
	$(Q)viewer/page.sh $* > $@

# page NAME, file
define page_bytes
	@mkdir -p $(@D)
	$(call say,BYTES)
	$(Q)(printf 'extern const unsigned char $(1)[];\nextern const unsigned long $(1)_len;\nconst unsigned char $(1)[] = {\n'; \
	  od -An -v -tx1 $< | sed 's/ \(..\)/0x\1,/g'; \
	  printf '};\nconst unsigned long $(1)_len = sizeof($(1));\n') > $@
endef

$(O)/profile/formats/page.o.c: $(O)/viewer/static.html
	$(call page_bytes,page_html)

$(O)/viewer/live.o.c: $(O)/viewer/live.html
	$(call page_bytes,live_html)
