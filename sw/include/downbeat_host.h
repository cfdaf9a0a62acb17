/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/* Generated from the RTL by `make generate`; do not edit. */
#ifndef DOWNBEAT_HOST_H
#define DOWNBEAT_HOST_H

#define DOWNBEAT_HOST_FORMAT 1u
#define DOWNBEAT_HOST_COMMAND_BYTES 128u
#define DOWNBEAT_HOST_NOTIFICATION_BYTES 64u
#define DOWNBEAT_HOST_LARGEST_SIZE_LOG2 15u
#define DOWNBEAT_HOST_PAGE_BYTES 4096u
#define DOWNBEAT_HOST_SET_UP_PAGE 1u
#define DOWNBEAT_HOST_FIRST_DOORBELL_PAGE 2u
#define DOWNBEAT_HOST_FIRST_PORT_BLOCK 256u
#define DOWNBEAT_HOST_PORT_BLOCK_BYTES 64u
#define DOWNBEAT_HOST_FORMAT_HASH 1558171168u

/* Entry of the command ring: byte offset, bits. Other bits are 0. */
/* HostOpcode */
#define DOWNBEAT_HOST_COMMAND_OPCODE_OFFSET 0u
#define DOWNBEAT_HOST_COMMAND_OPCODE_BITS 8u
/* open, listen: HostCommandOption */
#define DOWNBEAT_HOST_COMMAND_OPTIONS_OFFSET 1u
#define DOWNBEAT_HOST_COMMAND_OPTIONS_BITS 8u
/* comes back in the response to the command */
#define DOWNBEAT_HOST_COMMAND_REQUEST_OFFSET 2u
#define DOWNBEAT_HOST_COMMAND_REQUEST_BITS 16u
/* all but open, listen, unlisten */
#define DOWNBEAT_HOST_COMMAND_FLOW_OFFSET 4u
#define DOWNBEAT_HOST_COMMAND_FLOW_BITS 16u
/* all but open, listen, unlisten */
#define DOWNBEAT_HOST_COMMAND_GENERATION_OFFSET 6u
#define DOWNBEAT_HOST_COMMAND_GENERATION_BITS 8u
/* open, listen: 1: no PRR */
#define DOWNBEAT_HOST_COMMAND_NO_PRR_OFFSET 7u
#define DOWNBEAT_HOST_COMMAND_NO_PRR_BITS 8u
/* open; first byte of the wire highest */
#define DOWNBEAT_HOST_COMMAND_REMOTE_IP_OFFSET 8u
#define DOWNBEAT_HOST_COMMAND_REMOTE_IP_BITS 32u
/* open */
#define DOWNBEAT_HOST_COMMAND_REMOTE_PORT_OFFSET 12u
#define DOWNBEAT_HOST_COMMAND_REMOTE_PORT_BITS 16u
/* open (0: an ephemeral one), listen, unlisten */
#define DOWNBEAT_HOST_COMMAND_LOCAL_PORT_OFFSET 14u
#define DOWNBEAT_HOST_COMMAND_LOCAL_PORT_BITS 16u
/* open, listen, setPolicies, start: number of the policy */
#define DOWNBEAT_HOST_COMMAND_STARTUP_OFFSET 16u
#define DOWNBEAT_HOST_COMMAND_STARTUP_BITS 8u
/* open, listen, setPolicies, start: number of the policy */
#define DOWNBEAT_HOST_COMMAND_STEADY_OFFSET 17u
#define DOWNBEAT_HOST_COMMAND_STEADY_BITS 8u
/* open, listen: segments, at most 255 */
#define DOWNBEAT_HOST_COMMAND_INITIAL_WINDOW_OFFSET 18u
#define DOWNBEAT_HOST_COMMAND_INITIAL_WINDOW_BITS 16u
/* open, listen, start: bytes */
#define DOWNBEAT_HOST_COMMAND_SSTHRESH_OFFSET 20u
#define DOWNBEAT_HOST_COMMAND_SSTHRESH_BITS 32u
/* open, listen, setPolicies, start */
#define DOWNBEAT_HOST_COMMAND_STARTUP_ARGUMENT_OFFSET 24u
#define DOWNBEAT_HOST_COMMAND_STARTUP_ARGUMENT_BITS 128u
/* open, listen, setPolicies, start */
#define DOWNBEAT_HOST_COMMAND_STEADY_ARGUMENT_OFFSET 40u
#define DOWNBEAT_HOST_COMMAND_STEADY_ARGUMENT_BITS 128u
/* open, listen: ns per byte, 32 fraction bits */
#define DOWNBEAT_HOST_COMMAND_SPACING_OFFSET 56u
#define DOWNBEAT_HOST_COMMAND_SPACING_BITS 64u
/* open, listen, setTimes: 2^30 ns */
#define DOWNBEAT_HOST_COMMAND_KEEP_ALIVE_OFFSET 64u
#define DOWNBEAT_HOST_COMMAND_KEEP_ALIVE_BITS 16u
/* open, listen, setTimes: 2^30 ns */
#define DOWNBEAT_HOST_COMMAND_USER_TIMEOUT_OFFSET 66u
#define DOWNBEAT_HOST_COMMAND_USER_TIMEOUT_BITS 16u
/* open, listen */
#define DOWNBEAT_HOST_COMMAND_DIFFERENTIATED_SERVICES_OFFSET 68u
#define DOWNBEAT_HOST_COMMAND_DIFFERENTIATED_SERVICES_BITS 8u
/* open, listen; 0: 64 */
#define DOWNBEAT_HOST_COMMAND_TIME_TO_LIVE_OFFSET 69u
#define DOWNBEAT_HOST_COMMAND_TIME_TO_LIVE_BITS 8u
/* open, start: HostStartPace */
#define DOWNBEAT_HOST_COMMAND_PACE_OFFSET 70u
#define DOWNBEAT_HOST_COMMAND_PACE_BITS 8u
/* open, start: ns between segments, 16 fraction bits */
#define DOWNBEAT_HOST_COMMAND_PACE_GAP_OFFSET 72u
#define DOWNBEAT_HOST_COMMAND_PACE_GAP_BITS 64u
/* open, start: until when the host's values hold, ns; 0: always */
#define DOWNBEAT_HOST_COMMAND_VALID_UNTIL_OFFSET 80u
#define DOWNBEAT_HOST_COMMAND_VALID_UNTIL_BITS 64u
/* open, start: segments; 0: the connection's initial window */
#define DOWNBEAT_HOST_COMMAND_START_WINDOW_OFFSET 88u
#define DOWNBEAT_HOST_COMMAND_START_WINDOW_BITS 16u
/* open, start: the path's, ns, for the first RTO; 0: not known */
#define DOWNBEAT_HOST_COMMAND_ROUND_TRIP_OFFSET 96u
#define DOWNBEAT_HOST_COMMAND_ROUND_TRIP_BITS 64u

/* Entry of the notification ring: byte offset, bits. */
/* HostNotificationKind */
#define DOWNBEAT_HOST_NOTIFICATION_KIND_OFFSET 0u
#define DOWNBEAT_HOST_NOTIFICATION_KIND_BITS 8u
/* status, response: CloseReason; error: HostError */
#define DOWNBEAT_HOST_NOTIFICATION_REASON_OFFSET 1u
#define DOWNBEAT_HOST_NOTIFICATION_REASON_BITS 8u
/* of the command; status of an accepted connection: 0 */
#define DOWNBEAT_HOST_NOTIFICATION_REQUEST_OFFSET 2u
#define DOWNBEAT_HOST_NOTIFICATION_REQUEST_BITS 16u
/* status, error, pathReport, stamp */
#define DOWNBEAT_HOST_NOTIFICATION_FLOW_OFFSET 4u
#define DOWNBEAT_HOST_NOTIFICATION_FLOW_BITS 16u
/* status, error, pathReport, stamp */
#define DOWNBEAT_HOST_NOTIFICATION_GENERATION_OFFSET 6u
#define DOWNBEAT_HOST_NOTIFICATION_GENERATION_BITS 8u
/* status: TcpState; error: HostSource */
#define DOWNBEAT_HOST_NOTIFICATION_STATE_OFFSET 7u
#define DOWNBEAT_HOST_NOTIFICATION_STATE_BITS 8u
/* status: the send ring holds [acknowledged, written) */
#define DOWNBEAT_HOST_NOTIFICATION_ACKNOWLEDGED_OFFSET 8u
#define DOWNBEAT_HOST_NOTIFICATION_ACKNOWLEDGED_BITS 32u
/* status */
#define DOWNBEAT_HOST_NOTIFICATION_WRITTEN_OFFSET 12u
#define DOWNBEAT_HOST_NOTIFICATION_WRITTEN_BITS 32u
/* status: the receive ring holds [consumed, received) */
#define DOWNBEAT_HOST_NOTIFICATION_CONSUMED_OFFSET 16u
#define DOWNBEAT_HOST_NOTIFICATION_CONSUMED_BITS 32u
/* status; with peerFinished one more than the last byte's end */
#define DOWNBEAT_HOST_NOTIFICATION_RECEIVED_OFFSET 20u
#define DOWNBEAT_HOST_NOTIFICATION_RECEIVED_BITS 32u
/* status */
#define DOWNBEAT_HOST_NOTIFICATION_URGENT_END_OFFSET 24u
#define DOWNBEAT_HOST_NOTIFICATION_URGENT_END_BITS 32u
/* status: HostStatusFlag */
#define DOWNBEAT_HOST_NOTIFICATION_FLAGS_OFFSET 28u
#define DOWNBEAT_HOST_NOTIFICATION_FLAGS_BITS 8u
/* status: NetworkErrorKind of the last ICMP error */
#define DOWNBEAT_HOST_NOTIFICATION_ERROR_KIND_OFFSET 29u
#define DOWNBEAT_HOST_NOTIFICATION_ERROR_KIND_BITS 8u
/* status: its code */
#define DOWNBEAT_HOST_NOTIFICATION_ERROR_CODE_OFFSET 30u
#define DOWNBEAT_HOST_NOTIFICATION_ERROR_CODE_BITS 8u
/* status: ICMP errors, modulo 4 */
#define DOWNBEAT_HOST_NOTIFICATION_ERROR_COUNT_OFFSET 31u
#define DOWNBEAT_HOST_NOTIFICATION_ERROR_COUNT_BITS 8u
/* status */
#define DOWNBEAT_HOST_NOTIFICATION_REMOTE_IP_OFFSET 32u
#define DOWNBEAT_HOST_NOTIFICATION_REMOTE_IP_BITS 32u
/* status */
#define DOWNBEAT_HOST_NOTIFICATION_REMOTE_PORT_OFFSET 36u
#define DOWNBEAT_HOST_NOTIFICATION_REMOTE_PORT_BITS 16u
/* status */
#define DOWNBEAT_HOST_NOTIFICATION_LOCAL_PORT_OFFSET 38u
#define DOWNBEAT_HOST_NOTIFICATION_LOCAL_PORT_BITS 16u
/* ns: when it was composed */
#define DOWNBEAT_HOST_NOTIFICATION_TIME_OFFSET 40u
#define DOWNBEAT_HOST_NOTIFICATION_TIME_BITS 48u
/* error: the refused number; of a command: its index */
#define DOWNBEAT_HOST_NOTIFICATION_VALUE_OFFSET 48u
#define DOWNBEAT_HOST_NOTIFICATION_VALUE_BITS 32u
/* errors of the port so far that no notification reported */
#define DOWNBEAT_HOST_NOTIFICATION_ERRORS_UNREPORTED_OFFSET 52u
#define DOWNBEAT_HOST_NOTIFICATION_ERRORS_UNREPORTED_BITS 32u
/* commands of the port that are done; not in a pathReport */
#define DOWNBEAT_HOST_NOTIFICATION_COMMAND_HEAD_OFFSET 56u
#define DOWNBEAT_HOST_NOTIFICATION_COMMAND_HEAD_BITS 32u
/* 1 in the first lap of the ring, 0 in the second, and so on */
#define DOWNBEAT_HOST_NOTIFICATION_PHASE_OFFSET 63u
#define DOWNBEAT_HOST_NOTIFICATION_PHASE_BITS 8u

/* Entry of kind pathReport: what it has instead, byte offset, bits. */
/* bits 1 to 0 HostPathPhase, 2 lossInAvoidance, 3 closed: the last report, 7 to 4 growth */
#define DOWNBEAT_HOST_PATH_REPORT_STATE_OFFSET 1u
#define DOWNBEAT_HOST_PATH_REPORT_STATE_BITS 8u
/* loss events so far */
#define DOWNBEAT_HOST_PATH_REPORT_LOSSES_OFFSET 2u
#define DOWNBEAT_HOST_PATH_REPORT_LOSSES_BITS 8u
/* restarts after idleness so far */
#define DOWNBEAT_HOST_PATH_REPORT_RESTARTS_OFFSET 3u
#define DOWNBEAT_HOST_PATH_REPORT_RESTARTS_BITS 8u
/* safe retreats of the start-up policy so far */
#define DOWNBEAT_HOST_PATH_REPORT_RETREATS_OFFSET 7u
#define DOWNBEAT_HOST_PATH_REPORT_RETREATS_BITS 8u
/* bytes; in recovery ssthresh */
#define DOWNBEAT_HOST_PATH_REPORT_CWND_OFFSET 8u
#define DOWNBEAT_HOST_PATH_REPORT_CWND_BITS 32u
/* bytes */
#define DOWNBEAT_HOST_PATH_REPORT_SSTHRESH_OFFSET 12u
#define DOWNBEAT_HOST_PATH_REPORT_SSTHRESH_BITS 32u
/* ns; 0: none yet */
#define DOWNBEAT_HOST_PATH_REPORT_SMOOTHED_RTT_OFFSET 16u
#define DOWNBEAT_HOST_PATH_REPORT_SMOOTHED_RTT_BITS 40u
/* ns; 0: none yet */
#define DOWNBEAT_HOST_PATH_REPORT_SMALLEST_RTT_OFFSET 21u
#define DOWNBEAT_HOST_PATH_REPORT_SMALLEST_RTT_BITS 40u
/* bytes, 16 fraction bits */
#define DOWNBEAT_HOST_PATH_REPORT_AVERAGE_WINDOW_OFFSET 26u
#define DOWNBEAT_HOST_PATH_REPORT_AVERAGE_WINDOW_BITS 48u
/* ns, of the last loss event */
#define DOWNBEAT_HOST_PATH_REPORT_LOSS_TIME_OFFSET 32u
#define DOWNBEAT_HOST_PATH_REPORT_LOSS_TIME_BITS 48u
/* bytes */
#define DOWNBEAT_HOST_PATH_REPORT_SEGMENT_SIZE_OFFSET 38u
#define DOWNBEAT_HOST_PATH_REPORT_SEGMENT_SIZE_BITS 16u
/* ns: of this state */
#define DOWNBEAT_HOST_PATH_REPORT_TIME_OFFSET 40u
#define DOWNBEAT_HOST_PATH_REPORT_TIME_BITS 48u
/* bytes: cwnd just before the last loss event */
#define DOWNBEAT_HOST_PATH_REPORT_LOSS_WINDOW_OFFSET 46u
#define DOWNBEAT_HOST_PATH_REPORT_LOSS_WINDOW_BITS 32u
/* bytes acknowledged so far */
#define DOWNBEAT_HOST_PATH_REPORT_ACKED_OFFSET 50u
#define DOWNBEAT_HOST_PATH_REPORT_ACKED_BITS 48u
/* RTTVAR, ns; all ones: that or more */
#define DOWNBEAT_HOST_PATH_REPORT_RTT_VARIATION_OFFSET 56u
#define DOWNBEAT_HOST_PATH_REPORT_RTT_VARIATION_BITS 32u
/* ACKs of new data so far */
#define DOWNBEAT_HOST_PATH_REPORT_ACKS_OFFSET 60u
#define DOWNBEAT_HOST_PATH_REPORT_ACKS_BITS 24u

/* Entry of kind stamp: what it has instead, byte offset, bits. */
/* 1: the peer's segment; 0: one of ours */
#define DOWNBEAT_HOST_STAMP_RECEIVED_OFFSET 7u
#define DOWNBEAT_HOST_STAMP_RECEIVED_BITS 8u
/* one past the segment's last sequence number */
#define DOWNBEAT_HOST_STAMP_END_OFFSET 8u
#define DOWNBEAT_HOST_STAMP_END_BITS 32u
/* stamps since the port started for which there was no space */
#define DOWNBEAT_HOST_STAMP_DROPPED_OFFSET 12u
#define DOWNBEAT_HOST_STAMP_DROPPED_BITS 32u
/* time of the frame's SFD: ns, 16 fraction bits */
#define DOWNBEAT_HOST_STAMP_SFD_OFFSET 16u
#define DOWNBEAT_HOST_STAMP_SFD_BITS 64u

/* Set-up page: byte offset of 32-bit registers. */
/* RO: Ports of this build. */
#define DOWNBEAT_HOST_SET_UP_HOST_PORTS_OFFSET 0u
#define DOWNBEAT_HOST_SET_UP_HOST_PORTS_BITS 32u
/* RO: Number of this format; a driver of another one must refuse the core. */
#define DOWNBEAT_HOST_SET_UP_HOST_FORMAT_OFFSET 4u
#define DOWNBEAT_HOST_SET_UP_HOST_FORMAT_BITS 32u
/* RO: CRC-32 of the format's tables, as in the header. */
#define DOWNBEAT_HOST_SET_UP_FORMAT_HASH_OFFSET 8u
#define DOWNBEAT_HOST_SET_UP_FORMAT_HASH_BITS 32u
/* RO: CRC-32 of the policies of this build: names, numbers, arguments. */
#define DOWNBEAT_HOST_SET_UP_POLICY_HASH_OFFSET 12u
#define DOWNBEAT_HOST_SET_UP_POLICY_HASH_BITS 32u
/* RW: Address of the payload memory, a multiple of its size; taken over in reset. */
#define DOWNBEAT_HOST_SET_UP_PAYLOAD_BASE_LOW_OFFSET 16u
#define DOWNBEAT_HOST_SET_UP_PAYLOAD_BASE_LOW_BITS 32u
/* RW: Bits 63 to 32. */
#define DOWNBEAT_HOST_SET_UP_PAYLOAD_BASE_HIGH_OFFSET 20u
#define DOWNBEAT_HOST_SET_UP_PAYLOAD_BASE_HIGH_BITS 32u
/* RO: Bit p: the interrupt of port p is raised. */
#define DOWNBEAT_HOST_SET_UP_INTERRUPTS_OFFSET 24u
#define DOWNBEAT_HOST_SET_UP_INTERRUPTS_BITS 32u

/* Block of a port in the set-up page. */
/* RW: Bit 0 enable: 1 starts the port, 0 stops it. */
#define DOWNBEAT_HOST_PORT_CONTROL_OFFSET 0u
#define DOWNBEAT_HOST_PORT_CONTROL_BITS 32u
/* RO: HostPortStatus; refused: rings that cannot be; stopped: the memory refused a ring's access, or did not answer it. */
#define DOWNBEAT_HOST_PORT_STATUS_OFFSET 4u
#define DOWNBEAT_HOST_PORT_STATUS_BITS 32u
/* RW: Address of the command ring, a multiple of 4096. */
#define DOWNBEAT_HOST_PORT_COMMAND_BASE_LOW_OFFSET 8u
#define DOWNBEAT_HOST_PORT_COMMAND_BASE_LOW_BITS 32u
/* RW: Bits 63 to 32. */
#define DOWNBEAT_HOST_PORT_COMMAND_BASE_HIGH_OFFSET 12u
#define DOWNBEAT_HOST_PORT_COMMAND_BASE_HIGH_BITS 32u
/* RW: It has 2^n entries, n = 1 to 15. */
#define DOWNBEAT_HOST_PORT_COMMAND_SIZE_LOG2_OFFSET 16u
#define DOWNBEAT_HOST_PORT_COMMAND_SIZE_LOG2_BITS 32u
/* RW: Address of the notification ring, a multiple of 4096. */
#define DOWNBEAT_HOST_PORT_NOTIFICATION_BASE_LOW_OFFSET 20u
#define DOWNBEAT_HOST_PORT_NOTIFICATION_BASE_LOW_BITS 32u
/* RW: Bits 63 to 32. */
#define DOWNBEAT_HOST_PORT_NOTIFICATION_BASE_HIGH_OFFSET 24u
#define DOWNBEAT_HOST_PORT_NOTIFICATION_BASE_HIGH_BITS 32u
/* RW: It has 2^n entries, n = 1 to 15. */
#define DOWNBEAT_HOST_PORT_NOTIFICATION_SIZE_LOG2_OFFSET 28u
#define DOWNBEAT_HOST_PORT_NOTIFICATION_SIZE_LOG2_BITS 32u
/* RW: ns between two interrupts at least. */
#define DOWNBEAT_HOST_PORT_HOLD_OFF_OFFSET 32u
#define DOWNBEAT_HOST_PORT_HOLD_OFF_BITS 32u
/* RO: Values of this port that were refused, modulo 2^32. */
#define DOWNBEAT_HOST_PORT_ERRORS_OFFSET 36u
#define DOWNBEAT_HOST_PORT_ERRORS_BITS 32u
/* RO: Those for which there was no space to tell. */
#define DOWNBEAT_HOST_PORT_ERRORS_UNREPORTED_OFFSET 40u
#define DOWNBEAT_HOST_PORT_ERRORS_UNREPORTED_BITS 32u

/* Doorbell page of a port. */
/* WO: Of the next `writtenFlow`: one past the last byte in the send ring. */
#define DOWNBEAT_HOST_DOORBELL_WRITTEN_SEQUENCE_OFFSET 0u
#define DOWNBEAT_HOST_DOORBELL_WRITTEN_SEQUENCE_BITS 32u
/* WO: Flow in bits 15 to 0, generation 23 to 16, bit 24: the last byte is urgent. Rings: the bytes are written. */
#define DOWNBEAT_HOST_DOORBELL_WRITTEN_FLOW_OFFSET 4u
#define DOWNBEAT_HOST_DOORBELL_WRITTEN_FLOW_BITS 32u
/* WO: Of the next `consumedFlow`: one past the last byte that was read. */
#define DOWNBEAT_HOST_DOORBELL_CONSUMED_SEQUENCE_OFFSET 8u
#define DOWNBEAT_HOST_DOORBELL_CONSUMED_SEQUENCE_BITS 32u
/* WO: Flow, generation, as `writtenFlow`. Rings: the bytes are read. */
#define DOWNBEAT_HOST_DOORBELL_CONSUMED_FLOW_OFFSET 12u
#define DOWNBEAT_HOST_DOORBELL_CONSUMED_FLOW_BITS 32u
/* WO: Index of the first command that is not written yet. */
#define DOWNBEAT_HOST_DOORBELL_COMMAND_TAIL_OFFSET 16u
#define DOWNBEAT_HOST_DOORBELL_COMMAND_TAIL_BITS 32u
/* WO: Index of the first notification that is not read yet. */
#define DOWNBEAT_HOST_DOORBELL_NOTIFICATION_HEAD_OFFSET 20u
#define DOWNBEAT_HOST_DOORBELL_NOTIFICATION_HEAD_BITS 32u
/* WO: The same, with a request for an interrupt. */
#define DOWNBEAT_HOST_DOORBELL_NOTIFICATION_HEAD_ARM_OFFSET 24u
#define DOWNBEAT_HOST_DOORBELL_NOTIFICATION_HEAD_ARM_BITS 32u
/* RO: Commands that are done. */
#define DOWNBEAT_HOST_DOORBELL_COMMAND_HEAD_OFFSET 32u
#define DOWNBEAT_HOST_DOORBELL_COMMAND_HEAD_BITS 32u
/* RO: Notifications that are in memory. */
#define DOWNBEAT_HOST_DOORBELL_NOTIFICATION_TAIL_OFFSET 36u
#define DOWNBEAT_HOST_DOORBELL_NOTIFICATION_TAIL_BITS 32u

#define DOWNBEAT_HOST_COMMAND_FIELDS(each) \
  each(opcode, 0u, 8u) \
  each(options, 1u, 8u) \
  each(request, 2u, 16u) \
  each(flow, 4u, 16u) \
  each(generation, 6u, 8u) \
  each(noPrr, 7u, 8u) \
  each(remoteIp, 8u, 32u) \
  each(remotePort, 12u, 16u) \
  each(localPort, 14u, 16u) \
  each(startup, 16u, 8u) \
  each(steady, 17u, 8u) \
  each(initialWindow, 18u, 16u) \
  each(ssthresh, 20u, 32u) \
  each(startupArgument, 24u, 128u) \
  each(steadyArgument, 40u, 128u) \
  each(spacing, 56u, 64u) \
  each(keepAlive, 64u, 16u) \
  each(userTimeout, 66u, 16u) \
  each(differentiatedServices, 68u, 8u) \
  each(timeToLive, 69u, 8u) \
  each(pace, 70u, 8u) \
  each(paceGap, 72u, 64u) \
  each(validUntil, 80u, 64u) \
  each(startWindow, 88u, 16u) \
  each(roundTrip, 96u, 64u)

#define DOWNBEAT_HOST_NOTIFICATION_FIELDS(each) \
  each(kind, 0u, 8u) \
  each(reason, 1u, 8u) \
  each(request, 2u, 16u) \
  each(flow, 4u, 16u) \
  each(generation, 6u, 8u) \
  each(state, 7u, 8u) \
  each(acknowledged, 8u, 32u) \
  each(written, 12u, 32u) \
  each(consumed, 16u, 32u) \
  each(received, 20u, 32u) \
  each(urgentEnd, 24u, 32u) \
  each(flags, 28u, 8u) \
  each(errorKind, 29u, 8u) \
  each(errorCode, 30u, 8u) \
  each(errorCount, 31u, 8u) \
  each(remoteIp, 32u, 32u) \
  each(remotePort, 36u, 16u) \
  each(localPort, 38u, 16u) \
  each(time, 40u, 48u) \
  each(value, 48u, 32u) \
  each(errorsUnreported, 52u, 32u) \
  each(commandHead, 56u, 32u) \
  each(phase, 63u, 8u)

#define DOWNBEAT_HOST_PATH_REPORT_FIELDS(each) \
  each(state, 1u, 8u) \
  each(losses, 2u, 8u) \
  each(restarts, 3u, 8u) \
  each(retreats, 7u, 8u) \
  each(cwnd, 8u, 32u) \
  each(ssthresh, 12u, 32u) \
  each(smoothedRtt, 16u, 40u) \
  each(smallestRtt, 21u, 40u) \
  each(averageWindow, 26u, 48u) \
  each(lossTime, 32u, 48u) \
  each(segmentSize, 38u, 16u) \
  each(time, 40u, 48u) \
  each(lossWindow, 46u, 32u) \
  each(acked, 50u, 48u) \
  each(rttVariation, 56u, 32u) \
  each(acks, 60u, 24u)

#define DOWNBEAT_HOST_STAMP_FIELDS(each) \
  each(received, 7u, 8u) \
  each(end, 8u, 32u) \
  each(dropped, 12u, 32u) \
  each(sfd, 16u, 64u)

enum downbeat_host_opcode {
  DOWNBEAT_HOST_OPCODE_NONE = 0,
  DOWNBEAT_HOST_OPCODE_OPEN = 1,
  DOWNBEAT_HOST_OPCODE_LISTEN = 2,
  DOWNBEAT_HOST_OPCODE_UNLISTEN = 3,
  DOWNBEAT_HOST_OPCODE_SHUTDOWN = 4,
  DOWNBEAT_HOST_OPCODE_CLOSE = 5,
  DOWNBEAT_HOST_OPCODE_ABORT = 6,
  DOWNBEAT_HOST_OPCODE_SET_POLICIES = 7,
  DOWNBEAT_HOST_OPCODE_START = 8,
  DOWNBEAT_HOST_OPCODE_STAMPS = 9,
  DOWNBEAT_HOST_OPCODE_SET_TIMES = 10,
};

enum downbeat_host_notification_kind {
  DOWNBEAT_HOST_NOTIFICATION_KIND_NONE = 0,
  DOWNBEAT_HOST_NOTIFICATION_KIND_STATUS = 1,
  DOWNBEAT_HOST_NOTIFICATION_KIND_RESPONSE = 2,
  DOWNBEAT_HOST_NOTIFICATION_KIND_ERROR = 3,
  DOWNBEAT_HOST_NOTIFICATION_KIND_PATH_REPORT = 4,
  DOWNBEAT_HOST_NOTIFICATION_KIND_STAMP = 5,
};

enum downbeat_host_error {
  DOWNBEAT_HOST_ERROR_NONE = 0,
  DOWNBEAT_HOST_ERROR_OPCODE = 1,
  DOWNBEAT_HOST_ERROR_RESERVED = 2,
  DOWNBEAT_HOST_ERROR_FIELD = 3,
  DOWNBEAT_HOST_ERROR_FLOW = 4,
  DOWNBEAT_HOST_ERROR_NOT_OPEN = 5,
  DOWNBEAT_HOST_ERROR_OWNER = 6,
  DOWNBEAT_HOST_ERROR_GENERATION = 7,
  DOWNBEAT_HOST_ERROR_BACKWARDS = 8,
  DOWNBEAT_HOST_ERROR_BEYOND = 9,
  DOWNBEAT_HOST_ERROR_SHUT_DOWN = 10,
};

enum downbeat_host_source {
  DOWNBEAT_HOST_SOURCE_COMMAND = 0,
  DOWNBEAT_HOST_SOURCE_WRITTEN = 1,
  DOWNBEAT_HOST_SOURCE_CONSUMED = 2,
  DOWNBEAT_HOST_SOURCE_COMMAND_TAIL = 3,
  DOWNBEAT_HOST_SOURCE_NOTIFICATION_HEAD = 4,
  DOWNBEAT_HOST_SOURCE_NOTIFICATION_HEAD_ARM = 5,
};

enum downbeat_host_close_reason {
  DOWNBEAT_HOST_CLOSE_REASON_NONE = 0,
  DOWNBEAT_HOST_CLOSE_REASON_FINISHED = 1,
  DOWNBEAT_HOST_CLOSE_REASON_REFUSED = 2,
  DOWNBEAT_HOST_CLOSE_REASON_RESET = 3,
  DOWNBEAT_HOST_CLOSE_REASON_TIMED_OUT = 4,
  DOWNBEAT_HOST_CLOSE_REASON_ABORTED = 5,
  DOWNBEAT_HOST_CLOSE_REASON_OUT_OF_RESOURCES = 6,
  DOWNBEAT_HOST_CLOSE_REASON_ADDRESS_IN_USE = 7,
  DOWNBEAT_HOST_CLOSE_REASON_MEMORY_ERROR = 8,
  DOWNBEAT_HOST_CLOSE_REASON_UNREACHABLE = 9,
  DOWNBEAT_HOST_CLOSE_REASON_UNKNOWN_POLICY = 10,
  DOWNBEAT_HOST_CLOSE_REASON_POLICY_ARGUMENT = 11,
  DOWNBEAT_HOST_CLOSE_REASON_IN_FLIGHT = 12,
};

enum downbeat_host_tcp_state {
  DOWNBEAT_HOST_TCP_STATE_CLOSED = 0,
  DOWNBEAT_HOST_TCP_STATE_SYN_SENT = 1,
  DOWNBEAT_HOST_TCP_STATE_SYN_RECEIVED = 2,
  DOWNBEAT_HOST_TCP_STATE_ESTABLISHED = 3,
  DOWNBEAT_HOST_TCP_STATE_FIN_WAIT1 = 4,
  DOWNBEAT_HOST_TCP_STATE_FIN_WAIT2 = 5,
  DOWNBEAT_HOST_TCP_STATE_CLOSE_WAIT = 6,
  DOWNBEAT_HOST_TCP_STATE_CLOSING = 7,
  DOWNBEAT_HOST_TCP_STATE_LAST_ACK = 8,
  DOWNBEAT_HOST_TCP_STATE_TIME_WAIT = 9,
};

enum downbeat_host_start_pace {
  DOWNBEAT_HOST_START_PACE_NONE = 0,
  DOWNBEAT_HOST_START_PACE_EVEN = 1,
  DOWNBEAT_HOST_START_PACE_BUCKET = 2,
};

enum downbeat_host_path_phase {
  DOWNBEAT_HOST_PATH_PHASE_STARTUP = 0,
  DOWNBEAT_HOST_PATH_PHASE_AVOIDANCE = 1,
  DOWNBEAT_HOST_PATH_PHASE_RECOVERY = 2,
};

enum downbeat_host_command_option {
  DOWNBEAT_HOST_COMMAND_OPTION_NO_DELAY = 1,
  DOWNBEAT_HOST_COMMAND_OPTION_NSSR = 2,
  DOWNBEAT_HOST_COMMAND_OPTION_ECN = 4,
  DOWNBEAT_HOST_COMMAND_OPTION_RENO_RECOVERY = 8,
  DOWNBEAT_HOST_COMMAND_OPTION_NO_TAIL_LOSS_PROBE = 16,
  DOWNBEAT_HOST_COMMAND_OPTION_NO_RACK = 32,
  DOWNBEAT_HOST_COMMAND_OPTION_NO_UNDO = 64,
  DOWNBEAT_HOST_COMMAND_OPTION_NO_GROWTH_LIMIT = 128,
};

enum downbeat_host_status_flag {
  DOWNBEAT_HOST_STATUS_FLAG_PASSIVE = 1,
  DOWNBEAT_HOST_STATUS_FLAG_PEER_FINISHED = 2,
  DOWNBEAT_HOST_STATUS_FLAG_URGENT = 4,
  DOWNBEAT_HOST_STATUS_FLAG_STRUGGLING = 8,
};

enum downbeat_host_port_status {
  DOWNBEAT_HOST_PORT_STATUS_RUNNING = 1,
  DOWNBEAT_HOST_PORT_STATUS_REFUSED = 2,
  DOWNBEAT_HOST_PORT_STATUS_STOPPED = 4,
};

#endif
