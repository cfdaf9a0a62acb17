/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** Interface of a library that simulates a device for `sim:` and `downbeat nic`: registers, memory, interrupts, wire.
 *
 * libdownbeat_host_PRESET.so has one function, downbeat_model_get. A model is single-threaded and lives in virtual
 * time: something changes in a call of `advance_to`, or of `read`, which lets the time of a bus transaction pass.
 */
#ifndef DOWNBEAT_MODEL_H
#define DOWNBEAT_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DOWNBEAT_MODEL_ABI 1

typedef struct downbeat_model downbeat_model;

typedef struct downbeat_model_calls {
  uint32_t abi; /* DOWNBEAT_MODEL_ABI */
  const char *preset;
  /** NULL: no memory. `link_rate` in b/s. */
  downbeat_model *(*create)(uint64_t link_rate);
  void (*destroy)(downbeat_model *model);
  /** The host's memory: bus addresses 0 to `bytes` - 1. Others are answered with an error. */
  void (*set_memory)(downbeat_model *model, uint8_t *memory, uint64_t bytes);
  /** How often of 256 clocks the memory lets each access wait, drawn by `seed`; 0: never. A write then becomes visible
   * no earlier than its response. */
  void (*set_stalls)(downbeat_model *model, uint32_t stalls, uint32_t seed);
  /** A 32-bit register; -1: the bus answered with an error. A write is posted: it is done as time passes. */
  int (*read)(downbeat_model *model, uint32_t address, uint32_t *value);
  void (*write)(downbeat_model *model, uint32_t address, uint32_t value);
  /** Bit p: the interrupt of port p is raised. */
  uint32_t (*interrupts)(const downbeat_model *model);
  /* Times are units of 2^-16 ns, modulo 2^64 (78 hours); `until` is at most half of that ahead. */
  uint64_t (*now)(const downbeat_model *model);
  uint64_t (*next_deadline)(const downbeat_model *model); /* UINT64_MAX: it waits for input */
  void (*advance_to)(downbeat_model *model, uint64_t until);
  /** A frame without preamble and FCS, its SFD at `arrival`; 0, or -1 for a wrong size. */
  int (*put_frame)(downbeat_model *model, const uint8_t *frame, size_t length, uint64_t arrival);
  /** The next frame that has left; its length, or -1. */
  int64_t (*get_frame)(downbeat_model *model, uint8_t *frame, size_t capacity, uint64_t *departure);
  /** The next received frame that is not the core's; its length, or -1. */
  int64_t (*get_bypass)(downbeat_model *model, uint8_t *frame, size_t capacity);
} downbeat_model_calls;

__attribute__((visibility("default"))) const downbeat_model_calls *downbeat_model_get(void);

#ifdef __cplusplus
}
#endif
#endif
