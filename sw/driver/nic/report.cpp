// SPDX-License-Identifier: BSD-2-Clause-Patent
// Rows of `downbeat ls` and `downbeat top`, as JSON.
#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>

#include "formatted.h"
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

constexpr std::size_t maxListings = 64;
constexpr int rowsAtOnce = 16; // a row reads some 60 registers

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
  std::uint32_t left = geometry_.listeners; // a program may invent more
  for (const Client &client : clients_)
    for (const std::uint16_t port : client.watcher.listeners)
      if (left > 0 && left-- > 0) listening += (listening.empty() ? "" : ",") + std::to_string(port);
  std::ptrdiff_t usedFlows = 0;
  for (Client &client : clients_) {
    client.watcher.notifications();
    usedFlows += std::ranges::count_if(client.watcher.flows, [](const auto &each) { return each.second.isInUse(); });
  }
  const std::string text = formatted(
      R"({"preset":"%s","version":"%u.%u.%u","flows":%u,"used_flows":%td,"ports":%u,"free_ports":%zu,"send_bytes":%u,)"
      R"("receive_bytes":%u,"ip":%u,"netmask":%u,"gateway":%u,"mac":"%012llx","behind_ns":%llu,"listening":[%s]})",
      plain(options_.preset).c_str(), geometry_.version >> 16 & 0xff, geometry_.version >> 8 & 0xff,
      geometry_.version & 0xff, geometry_.flows, usedFlows, geometry_.ports, freePorts_.size(), geometry_.sendBytes,
      geometry_.receiveBytes, geometry_.ip, geometry_.netmask, geometry_.gateway,
      static_cast<unsigned long long>(geometry_.mac), static_cast<unsigned long long>(behind() >> 16),
      listening.c_str());
  sendMessage(socket.get(), text.data(), text.size());
}

void Nic::startListing(File socket) {
  for (Client &client : clients_) client.watcher.notifications();
  if (listings_.size() == maxListings) listings_.pop_front(); // the oldest does not read
  listings_.push_back({std::move(socket)});
}

bool Nic::tellRows(Listing &listing) {
  for (int left = rowsAtOnce; left > 0; --left) {
    const Client *client = nullptr;
    std::map<std::uint32_t, Seen>::const_iterator row;
    for (const Client &each : clients_) {
      if (each.port < listing.port || (client != nullptr && each.port > client->port)) continue;
      const auto &flows = each.watcher.flows;
      const auto found = std::find_if(flows.lower_bound(each.port == listing.port ? listing.flow : 0), flows.end(),
                                      [](const auto &flow) { return flow.second.isInUse(); });
      if (found != flows.end()) client = &each, row = found;
    }
    if (client == nullptr) return false;
    const auto &[flow, seen] = *row;
    downbeat_event record{};
    const bool found = readFlow(model_, flow, record) && record.generation == seen.generation;
    const std::string text = formatted(
        R"({"port":%u,"process":%d,"program":"%s","flow":%u,"generation":%u,"state":"%s","remote_ip":%u,)"
        R"("remote_port":%u,"local_port":%u,"startup":"%s","steady":"%s","cwnd":%llu,"ssthresh":%llu,)"
        R"("rtt_ns":%llu,"acknowledged":%u,"received":%u,"losses":%u,"estimate":%s,"let_go":%s})",
        client->port, client->process, plain(client->program).c_str(), flow, seen.generation,
        downbeat_state_text(seen.state), seen.remoteIp, seen.remotePort, seen.localPort,
        found ? policyText(PolicyFamily::startup, record.startup) : "?",
        found ? policyText(PolicyFamily::steady, record.steady) : "?",
        static_cast<unsigned long long>(record.cwnd >> 16), static_cast<unsigned long long>(record.ssthresh >> 16),
        static_cast<unsigned long long>(seen.roundTrip), record.acknowledged, record.received, seen.losses,
        sourceText(seen.source), seen.letGo ? "true" : "false");
    if (!sendMessage(listing.socket.get(), text.data(), text.size())) return errno == EAGAIN;
    listing.port = client->port;
    listing.flow = flow + 1;
  }
  return true;
}

} // namespace downbeat::nic
