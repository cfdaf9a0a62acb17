// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "failure.h"

#include <utility>

namespace downbeat {

namespace {

thread_local std::string problem;

} // namespace

int failed(int code, std::string text) {
  problem = std::move(text);
  return code;
}

int failed(int code) { return failed(code, downbeat_error_text(code)); }

} // namespace downbeat

extern "C" {

const char *downbeat_problem(void) { return downbeat::problem.c_str(); }

const char *downbeat_error_text(int error) {
  switch (error) {
  case DOWNBEAT_OK: return "success";
  case DOWNBEAT_WOULD_BLOCK: return "nothing to do now: wait for downbeat_descriptor, poll and try again";
  case DOWNBEAT_INVALID_ARGUMENT: return "an argument is out of its range";
  case DOWNBEAT_UNKNOWN_PRESET: return "no simulated device of that preset";
  case DOWNBEAT_UNKNOWN_POLICY: return "no congestion policy of that name in the core";
  case DOWNBEAT_SHUT_DOWN: return "the sending side is shut down";
  case DOWNBEAT_REFUSED: return "the peer refused the connection";
  case DOWNBEAT_RESET: return "the peer reset the connection";
  case DOWNBEAT_TIMED_OUT: return "the peer has not answered for too long";
  case DOWNBEAT_ABORTED: return "the connection was aborted";
  case DOWNBEAT_OUT_OF_RESOURCES: return "the core has no flow left: close connections, or build it with more flows";
  case DOWNBEAT_UNREACHABLE:
    return "the peer's network cannot be reached: nobody answers by ARP, or there is no gateway";
  case DOWNBEAT_POLICY_ARGUMENT: return "the policy does not take that argument: docs/reference/congestion.md";
  case DOWNBEAT_ADDRESS_IN_USE: return "somebody listens on that port, or these addresses have a connection";
  case DOWNBEAT_NO_DEVICE: return "no such device";
  case DOWNBEAT_WRONG_VERSION: return "the device is of another version than this libdownbeat";
  case DOWNBEAT_NO_PERMISSION: return "no permission for the device";
  case DOWNBEAT_DEVICE_GONE: return "the device has gone: release it and open it again";
  case DOWNBEAT_NO_PORT: return "all ports of the device are taken";
  case DOWNBEAT_NOT_SUPPORTED: return "this device cannot do that";
  case DOWNBEAT_IN_FLIGHT: return "a start needs an established connection with nothing in flight";
  default: return "unknown error";
  }
}

const char *downbeat_state_text(int state) {
  static constexpr const char *names[] = {"CLOSED",     "SYN-SENT",   "SYN-RECEIVED", "ESTABLISHED", "FIN-WAIT-1",
                                          "FIN-WAIT-2", "CLOSE-WAIT", "CLOSING",      "LAST-ACK",    "TIME-WAIT"};
  return state >= 0 && state <= DOWNBEAT_TIME_WAIT ? names[state] : "unknown";
}

} // extern "C"
