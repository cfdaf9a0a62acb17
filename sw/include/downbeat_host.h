/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/* Stands for the header that `make generate` writes (rtl/downbeat/host/HostFormat.scala): it replaces this one. */
#ifndef DOWNBEAT_HOST_H
#define DOWNBEAT_HOST_H

#define DOWNBEAT_HOST_FORMAT_HASH 0u

#endif
