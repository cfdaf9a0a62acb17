// SPDX-License-Identifier: BSD-2-Clause-Patent
// Socket options, and TCP_INFO from the engine's events.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include <linux/sock_diag.h>
#include <netinet/in.h>

#include "stack.h"

namespace {

constexpr std::uint32_t linuxStates[] = {7, 2, 3,  1, 4,
                                         5, 8, 11, 9, 6}; // by enum downbeat_state, as in include/net/tcp_states.h
constexpr double tick = 1.073741824;                                     // s, of keep_alive and user_timeout

int integer(const void *value, socklen_t length) {
  int number = 0;
  std::memcpy(&number, value, std::min<std::size_t>(length, sizeof number));
  return number;
}

std::uint32_t ticks(double seconds) {
  return static_cast<std::uint32_t>(std::clamp(seconds / tick + 0.5, 1.0, 65535.0));
}

} // namespace

Stack::Result Stack::setOption(int fd, int level, int name, const void *value, socklen_t length) {
  const std::lock_guard lock(mutex_);
  Socket *socket = find(fd);
  if (socket == nullptr) return -EBADF;
  downbeat_parameters &parameters = socket->parameters;
  const int number = integer(value, length);
  if (level == SOL_SOCKET) {
    if (name == SO_LINGER) {
      linger how{};
      std::memcpy(&how, value, std::min<std::size_t>(length, sizeof how));
      socket->abortive = how.l_onoff != 0 && how.l_linger == 0;
      return 0;
    }
    if (name == SO_KEEPALIVE) parameters.keep_alive = number != 0 ? ticks(7200) : 0;
    const bool harmless = name == SO_REUSEADDR || name == SO_SNDBUF || name == SO_RCVBUF || name == SO_KEEPALIVE;
    return harmless ? 0 : -ENOPROTOOPT;
  }
  if (level == IPPROTO_IP && name == IP_TOS)
    return parameters.differentiated_services = static_cast<unsigned>(number) >> 2, 0;
  if (level == IPPROTO_IP && name == IP_TTL) return parameters.time_to_live = static_cast<unsigned>(number), 0;
  if (level != IPPROTO_TCP) return -ENOPROTOOPT;
  switch (name) {
  case TCP_NODELAY: return parameters.no_delay = number != 0, 0;
  case TCP_KEEPIDLE: return parameters.keep_alive = ticks(number), 0;
  case TCP_USER_TIMEOUT: return parameters.user_timeout = number != 0 ? ticks(number / 1000.0) : 0, 0;
  case TCP_CONGESTION: {
    const std::string wanted(static_cast<const char *>(value), strnlen(static_cast<const char *>(value), length));
    for (int policy = 0; const char *known = downbeat_sim_steady_text(policy); ++policy) {
      if (wanted != known) continue;
      socket->steady = wanted;
      parameters.steady = socket->steady.c_str();
      return 0;
    }
    return -ENOENT;
  }
  default: return -ENOPROTOOPT;
  }
}

Stack::Result Stack::getOption(int fd, int level, int name, void *value, socklen_t *length) {
  const std::lock_guard lock(mutex_);
  Socket *socket = find(fd);
  if (socket == nullptr) return -EBADF;
  if (level == SOL_SOCKET && name == SO_ERROR) {
    const int error = info(*socket).error;
    if (error == 0 || socket->error == error) return give(value, length, 0);
    socket->error = error; // reported once
    return give(value, length, errnoOf(error));
  }
  // packetdrill asks for all three where a script asks for one.
  if (level == SOL_SOCKET && name == SO_MEMINFO)
    return give(value, length, std::array<std::uint32_t, SK_MEMINFO_VARS>{});
  if (level == IPPROTO_TCP && name == TCP_CC_INFO) return *length = 0;
  if (level == SOL_SOCKET && name == SO_TYPE) return give<int>(value, length, SOCK_STREAM);
  if (level != IPPROTO_TCP) return -ENOPROTOOPT;
  if (name == TCP_NODELAY) return give<int>(value, length, static_cast<int>(socket->parameters.no_delay));
  if (name != TCP_INFO) return -ENOPROTOOPT;
  tcp_info tcp{};
  information(*socket, tcp);
  // A program may know more fields than this system's headers: they are zero.
  std::memset(value, 0, *length);
  std::memcpy(value, &tcp, std::min<std::size_t>(*length, sizeof tcp));
  return 0;
}

void Stack::information(const Socket &socket, tcp_info &tcp) {
  const downbeat_sim_info now = info(socket);
  const Window &window = windows_[{now.flow, now.generation}];
  const std::uint32_t segment = std::max(window.segment, 1u);
  tcp.tcpi_state = static_cast<std::uint8_t>(linuxStates[now.state]);
  tcp.tcpi_snd_mss = window.segment;
  tcp.tcpi_snd_cwnd = static_cast<std::uint32_t>((window.cwnd >> 16) / segment);
  tcp.tcpi_snd_ssthresh =
      static_cast<std::uint32_t>(std::min<std::uint64_t>((window.ssthresh >> 16) / segment, INT32_MAX));
  tcp.tcpi_unacked = (window.flight + segment - 1) / segment;
  tcp.tcpi_rtt = static_cast<std::uint32_t>(window.rtt / 1000);
  tcp.tcpi_total_retrans = window.retransmitted;
  tcp.tcpi_bytes_acked = now.acknowledged;
  tcp.tcpi_bytes_received = now.received;
}

void Stack::see(const downbeat_event &event) {
  if (!event.live) return;
  Window &window = windows_[{event.flow, event.generation}];
  window.cwnd = event.cwnd;
  window.ssthresh = event.ssthresh;
  window.segment = event.segment_size;
  window.flight = event.flight;
  window.retransmitted += event.sent && event.retransmission;
  if (event.rtt_valid) window.rtt = window.rtt == 0 ? event.rtt : (7 * window.rtt + event.rtt) / 8;
}
