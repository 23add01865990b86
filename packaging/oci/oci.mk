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

# a program of the build, from the data that confines each process
oci-seccomp_OBJS := $(patsubst %.c,$(O)/%.o,packaging/oci/seccomp.c loaderd/confine.c \
	symbolizerd/worker/confine.c exporterd/confinement.c common/sandbox.c common/log.c)
$(OCI)/seccomp: $(oci-seccomp_OBJS)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(LDHARD) $^ -lseccomp -lcap-ng -o $@

PROFILES := $(patsubst %,$(OCI)/seccomp.d/%.json,loaderd symbolizerd exporterd)
$(OCI)/seccomp.d/%.json: $(OCI)/seccomp
	@mkdir -p $(@D)
	$(call say,JSON)
	$(Q)$(OCI)/seccomp $* > $@

.PHONY: image oci-seccomp
oci-seccomp: $(PROFILES)
image: $(OCI)/trifold.oci.tar
$(OCI)/trifold.oci.tar: $(PROGRAMS:%=$(O)/bin/%) $(OCI)/trifold-listen $(PROFILES) packaging/oci/make_image.py
	$(call say,IMAGE)
	$(Q)packaging/oci/make_image.py $(O) $@
