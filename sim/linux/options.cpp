// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "options.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string_view>

#include <arpa/inet.h>
#include <netinet/ether.h>

namespace {

constexpr const char *usage =
    "downbeat_tap --tap=NAME --core-ip=IP --core-mac=MAC\n"
    "             (--send=FILE --peer-ip=IP | --receive=FILE | --serve=FILE [--requests=N] | --iperf3=server |\n"
    "              --fetch=PATH --peer-ip=IP --receive=FILE [--connections=N] [--requests=N] |\n"
    "              --iperf3=client --peer-ip=IP --bytes=N [--connections=N] [--reverse=1])\n"
    "downbeat_tap --tap=NAME --relay=NAME --relay-namespace=PATH\n"
    "             [--port=N] [--drop=SHARE] [--reorder=SHARE] [--duplicate=SHARE] [--corrupt=SHARE]\n"
    "             [--delay=MS] [--startup=POLICY] [--steady=POLICY] [--initial-window=SEGMENTS]\n"
    "             [--seed=N] [--wall-limit=SECONDS] [--waves=FILE] [--pcap=FILE]\n";

[[noreturn]] void refuse(const std::string &why) {
  std::fprintf(stderr, "downbeat_tap: %s\n%s", why.c_str(), usage);
  std::exit(1);
}

double number(const std::string &text, double low, double high) {
  char *end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= low && value <= high))
    refuse("'" + text + "' is not a number in range");
  return value;
}

std::uint32_t ipOf(const std::string &text) {
  in_addr address{};
  if (inet_pton(AF_INET, text.c_str(), &address) != 1) refuse("'" + text + "' is not an IPv4 address");
  return ntohl(address.s_addr);
}

std::array<std::uint8_t, 6> macOf(const std::string &text) {
  ether_addr address{};
  if (ether_aton_r(text.c_str(), &address) == nullptr) refuse("'" + text + "' is not a MAC address");
  return std::to_array(address.ether_addr_octet);
}

} // namespace

Options Options::parse(int count, char **arguments) {
  Options options;
  const std::map<std::string_view, std::function<void(const std::string &)>> known{
      {"--tap", [&](const std::string &text) { options.tap = text; }},
      {"--send", [&](const std::string &text) { options.send = text; }},
      {"--receive", [&](const std::string &text) { options.receive = text; }},
      {"--fetch", [&](const std::string &text) { options.fetch = text; }},
      {"--serve", [&](const std::string &text) { options.serve = text; }},
      {"--iperf3", [&](const std::string &text) { options.iperf3 = text; }},
      {"--relay", [&](const std::string &text) { options.relay = text; }},
      {"--relay-namespace", [&](const std::string &text) { options.relayNamespace = text; }},
      {"--requests",
       [&](const std::string &text) { options.requests = static_cast<std::uint64_t>(number(text, 1, 1e9)); }},
      {"--connections",
       [&](const std::string &text) { options.connections = static_cast<std::uint64_t>(number(text, 1, 1e5)); }},
      {"--bytes",
       [&](const std::string &text) { options.bytes = static_cast<std::uint64_t>(number(text, 1, 0x1p53)); }},
      {"--reverse", [&](const std::string &text) { options.reverse = number(text, 0, 1) != 0; }},
      {"--core-ip", [&](const std::string &text) { options.coreIp = ipOf(text); }},
      {"--core-mac", [&](const std::string &text) { options.coreMac = macOf(text); }},
      {"--peer-ip", [&](const std::string &text) { options.peerIp = ipOf(text); }},
      {"--port", [&](const std::string &text) { options.port = static_cast<std::uint16_t>(number(text, 1, 65535)); }},
      {"--startup", [&](const std::string &text) { options.startup = text; }},
      {"--steady", [&](const std::string &text) { options.steady = text; }},
      {"--initial-window",
       [&](const std::string &text) { options.initialWindow = static_cast<std::uint32_t>(number(text, 1, 255)); }},
      {"--delay", [&](const std::string &text) { options.delay = number(text, 0, 1e4); }},
      {"--drop", [&](const std::string &text) { options.impairment.loss = number(text, 0, 0.99); }},
      {"--reorder", [&](const std::string &text) { options.impairment.reorder = number(text, 0, 0.99); }},
      {"--duplicate", [&](const std::string &text) { options.impairment.duplicate = number(text, 0, 0.99); }},
      {"--corrupt", [&](const std::string &text) { options.impairment.corrupt = number(text, 0, 0.99); }},
      {"--seed", [&](const std::string &text) { options.seed = static_cast<std::uint64_t>(number(text, 0, 0x1p53)); }},
      {"--wall-limit", [&](const std::string &text) { options.wallLimit = number(text, 0, 1e6); }},
      {"--waves", [&](const std::string &text) { options.waves = text; }},
      {"--pcap", [&](const std::string &text) { options.pcap = text; }},
  };
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    const auto equals = std::min(argument.find('='), argument.size());
    const auto found = known.find(std::string_view(argument).substr(0, equals));
    if (found == known.end() || equals == argument.size()) refuse("unknown argument '" + argument + "'");
    found->second(argument.substr(equals + 1));
  }
  if (!options.tap.empty() && !options.relay.empty() && !options.relayNamespace.empty()) return options;
  if (options.tap.empty() || options.coreIp == 0) refuse("--tap, --core-ip and --core-mac are needed");
  const bool fetches = !options.fetch.empty(), client = options.iperf3 == "client";
  const int files = !options.send.empty() + (!options.receive.empty() && !fetches);
  if (files + fetches + !options.serve.empty() + !options.iperf3.empty() != 1)
    refuse("one of --send, --receive, --fetch, --serve and --iperf3 is needed");
  if (!options.iperf3.empty() && !client && options.iperf3 != "server") refuse("--iperf3 is server or client");
  if (fetches && options.receive.empty()) refuse("--fetch needs --receive");
  if (client && options.bytes == 0) refuse("--iperf3=client needs --bytes");
  if ((fetches || client || !options.send.empty()) && options.peerIp == 0) refuse("who connects needs --peer-ip");
  return options;
}
