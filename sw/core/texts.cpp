// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "downbeat_texts.h"
#include "downbeat_types.h"

const char *downbeat_error_text(int error) {
  switch (error) {
  case DOWNBEAT_OK: return "success";
  case DOWNBEAT_WOULD_BLOCK: return "nothing to do at this time: poll or advance the device and try again";
  case DOWNBEAT_INVALID_ARGUMENT:
    return "invalid argument: a null pointer, a zero port or length, or a value out of its range";
  case DOWNBEAT_UNKNOWN_PRESET: return "no simulated device of that preset: build with PRESET=name";
  case DOWNBEAT_UNKNOWN_POLICY:
    return "no congestion policy of that name in the core: see rtl/downbeat/builds/Policies.scala";
  case DOWNBEAT_UNKNOWN_CONNECTION: return "no such connection: it was closed or aborted, or never was";
  case DOWNBEAT_NOT_LISTENING: return "no listener on that port";
  case DOWNBEAT_SHUT_DOWN: return "the sending side is shut down";
  case DOWNBEAT_REFUSED: return "the peer refused the connection";
  case DOWNBEAT_RESET: return "the peer reset the connection";
  case DOWNBEAT_TIMED_OUT: return "the peer has not answered for too long";
  case DOWNBEAT_ABORTED: return "the connection was aborted on this side";
  case DOWNBEAT_OUT_OF_RESOURCES:
    return "no free flow, listener or port: close connections, or build the core with more";
  case DOWNBEAT_FRAME_SIZE: return "frame shorter than an Ethernet header or longer than the build's largest";
  case DOWNBEAT_NO_WAVES: return "no waves: this library was built without them, or the file cannot be written";
  case DOWNBEAT_UNREACHABLE:
    return "no way to that address: its next hop does not answer, there is no gateway, or the network says so";
  case DOWNBEAT_POLICY_ARGUMENT: return "the policy does not take that argument: docs/reference/congestion.md";
  case DOWNBEAT_ADDRESS_IN_USE: return "that port has a listener, or these addresses have a connection";
  case DOWNBEAT_NO_DEVICE: return "no such device";
  case DOWNBEAT_WRONG_VERSION: return "the device is of another version than this libdownbeat";
  case DOWNBEAT_NO_PERMISSION: return "no permission for the device";
  case DOWNBEAT_DEVICE_GONE: return "the device has gone: release it and open it again";
  case DOWNBEAT_NO_PORT: return "all ports of the device are taken";
  case DOWNBEAT_NOT_SUPPORTED: return "this device or build cannot do that";
  case DOWNBEAT_IN_FLIGHT: return "a start needs an established connection with nothing in flight";
  case DOWNBEAT_MEMORY_ERROR: return "the device's memory refused an access: the connection's bytes are lost";
  default: return "unknown error";
  }
}

const char *downbeat_state_text(int state) {
  static constexpr const char *names[] = {"CLOSED",     "SYN-SENT",   "SYN-RECEIVED", "ESTABLISHED", "FIN-WAIT-1",
                                          "FIN-WAIT-2", "CLOSE-WAIT", "CLOSING",      "LAST-ACK",    "TIME-WAIT"};
  return state >= 0 && state <= DOWNBEAT_TIME_WAIT ? names[state] : "unknown";
}
