# SPDX-License-Identifier: Apache-2.0
#
# codelets/device/: what CUDA and OpenCL share, and one file each for what they do not.

libcavs_la_SOURCES += \
	codelets/device/backends.c \
	codelets/device/device.c \
	codelets/device/device.h \
	codelets/device/device_cache.c \
	codelets/device/device_code.c \
	codelets/device/device_failures.c \
	codelets/device/device_groups.c \
	codelets/device/device_kernels.c \
	codelets/device/device_sums.c \
	codelets/device/device_sums.h \
	codelets/device/device_task.c \
	codelets/device/device_update.c \
	codelets/device/driver.h \
	codelets/device/fused_products.c \
	codelets/device/fused_products.h \
	codelets/device/launching.c \
	codelets/device/offer.c \
	codelets/device/products.c \
	codelets/device/products_choice.c \
	codelets/device/products.h \
	codelets/device/sequences.c \
	codelets/device/sequences.h \
	codelets/device/assumed.c \
	codelets/device/source.c \
	codelets/device/walk.c \
	codelets/device/walk.h
if HAVE_OPENCL
libcavs_la_SOURCES += codelets/device/opencl.c
endif
if HAVE_CUDA
libcavs_la_SOURCES += codelets/device/cuda.c codelets/device/nvrtc.c codelets/device/nvrtc.h
endif

# their kernels, embedded as a string
EXTRA_DIST += codelets/device/dialect.cl codelets/device/kernels.cl codelets/device/products.cl codelets/device/rows.cl
device_texts = codelets/device/dialect.inc codelets/device/kernels.inc codelets/device/products.inc \
	codelets/device/rows.inc
BUILT_SOURCES += $(device_texts)
CLEANFILES += $(device_texts)
# BUILT_SOURCES are made for `make all` only, and any target may be the first in a new tree
codelets/device/source.lo: $(device_texts)
SUFFIXES = .cl .inc
.cl.inc:
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SED) -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' \
		-e 's/$$/\\n"/' $< >$@.tmp && mv $@.tmp $@
