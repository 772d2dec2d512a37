# SPDX-License-Identifier: Apache-2.0
#
# core/ranks/: several processes that run one program: that they are there, agree, and send one
# another what tasks have made.

libcavs_la_SOURCES += core/ranks/ranks.h

if HAVE_MPI
libcavs_la_SOURCES += \
	core/ranks/agree.c \
	core/ranks/mpi.h \
	core/ranks/transfer.c
if SIMULATED
libcavs_la_SOURCES += \
	core/ranks/collect_simulated.c \
	core/ranks/launch_simulated.c \
	core/ranks/unshared.c
else
libcavs_la_SOURCES += \
	core/ranks/at_once.c \
	core/ranks/carrier.c \
	core/ranks/collect.c \
	core/ranks/launch.c \
	core/ranks/watch.c
endif
else
libcavs_la_SOURCES += \
	core/ranks/alone.c \
	core/ranks/unshared.c
endif
EXTRA_DIST += \
	core/ranks/alone.c \
	core/ranks/collect_simulated.c \
	core/ranks/launch_simulated.c \
	core/ranks/unshared.c
