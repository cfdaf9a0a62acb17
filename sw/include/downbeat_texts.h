/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** Texts of both interfaces: libdownbeat (downbeat.h) and the simulated core (downbeat_sim_core.h). */
#ifndef DOWNBEAT_TEXTS_H
#define DOWNBEAT_TEXTS_H

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** A downbeat_error in words; "unknown error" for any other number. */
const char *downbeat_error_text(int error);
/** A downbeat_state by its name in RFC 9293, as "FIN-WAIT-1"; "unknown" for any other number. */
const char *downbeat_state_text(int state);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
