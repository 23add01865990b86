# SPDX-License-Identifier: Apache-2.0
#
# make image: an OCI image with all programs; docs/CONTAINERS.md.

OCI := $(O)/oci

# in images alone: where there are units, systemd makes the sockets
trifold-listen_SRCS := packaging/oci/listen.c
$(OCI)/trifold-listen: $(trifold-listen_SRCS:%.c=$(O)/%.o)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(LDHARD) $^ -o $@

.PHONY: image
image: $(OCI)/trifold.oci.tar
$(OCI)/trifold.oci.tar: $(PROGRAMS:%=$(O)/bin/%) $(OCI)/trifold-listen packaging/oci/make_image.py
	$(call say,IMAGE)
	$(Q)packaging/oci/make_image.py $(O) $@
