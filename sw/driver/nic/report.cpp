// SPDX-License-Identifier: BSD-2-Clause-Patent
// Rows of `downbeat ls` and `downbeat top`, as JSON.
#include <cstdio>
#include <iterator>
#include <optional>

#include "messages.h"
#include "nic.h"
#include "policies.h"
#include "record.h"

namespace downbeat::nic {

namespace {

/// A program's name has no say in the JSON's form.
std::string plain(const std::string &text) {
  std::string kept;
  for (const char each : text)
    if (each >= ' ' && each < 0x7f && each != '"' && each != '\\') kept += each;
  return kept;
}

const char *policyText(PolicyFamily family, unsigned number) {
  const char *name = policyName(family, number);
  return name != nullptr ? name : "?";
}

/// In JSON. The program says it, and has no say in the form.
const char *sourceText(std::optional<std::uint8_t> source) {
  static constexpr const char *texts[] = {R"("none")", R"("own")", R"("gateway")"};
  return source && *source < std::size(texts) ? texts[*source] : "null";
}

} // namespace

void Nic::tellDevice(const File &socket) {
  std::string listening;
  for (const Client &client : clients_)
    for (const std::uint16_t port : client.watcher.listeners)
      listening += (listening.empty() ? "" : ",") + std::to_string(port);
  char text[600];
  const int length = std::snprintf(
      text, sizeof text,
      R"({"preset":"%s","version":"%u.%u.%u","flows":%u,"ports":%u,"free_ports":%zu,"send_bytes":%u,)"
      R"("receive_bytes":%u,"ip":%u,"netmask":%u,"gateway":%u,"mac":"%012llx","behind_ns":%llu,"listening":[)",
      plain(options_.preset).c_str(), geometry_.version >> 16 & 0xff, geometry_.version >> 8 & 0xff,
      geometry_.version & 0xff, geometry_.flows, geometry_.ports, freePorts_.size(), geometry_.sendBytes,
      geometry_.receiveBytes, geometry_.ip, geometry_.netmask, geometry_.gateway,
      static_cast<unsigned long long>(geometry_.mac), static_cast<unsigned long long>(behind() >> 16));
  const std::string answer = std::string(text, static_cast<std::size_t>(length)) + listening + "]}";
  sendMessage(socket.get(), answer.data(), answer.size());
}

void Nic::tellConnections(const File &socket) {
  for (const Client &client : clients_) {
    Watcher &watcher = const_cast<Client &>(client).watcher;
    watcher.notifications();
    for (const auto &[flow, seen] : watcher.flows) {
      downbeat_event record{};
      const bool found = readFlow(model_, flow, record) && record.generation == seen.generation;
      char text[700];
      const int length = std::snprintf(
          text, sizeof text,
          R"({"port":%u,"process":%d,"program":"%s","flow":%u,"generation":%u,"state":"%s","remote_ip":%u,)"
          R"("remote_port":%u,"local_port":%u,"startup":"%s","steady":"%s","cwnd":%llu,"ssthresh":%llu,)"
          R"("rtt_ns":%llu,"acknowledged":%u,"received":%u,"losses":%u,"estimate":%s,"let_go":%s})",
          client.port, client.process, plain(client.program).c_str(), flow, seen.generation,
          downbeat_state_text(seen.state), seen.remoteIp, seen.remotePort, seen.localPort,
          found ? policyText(PolicyFamily::startup, record.startup) : "?",
          found ? policyText(PolicyFamily::steady, record.steady) : "?",
          static_cast<unsigned long long>(record.cwnd >> 16), static_cast<unsigned long long>(record.ssthresh >> 16),
          static_cast<unsigned long long>(record.rtt), record.acknowledged, record.received, seen.losses,
          sourceText(seen.source), seen.letGo ? "true" : "false");
      if (!sendMessage(socket.get(), text, static_cast<std::size_t>(length))) return;
    }
  }
}

} // namespace downbeat::nic
