// SPDX-License-Identifier: BSD-2-Clause-Patent
// downbeat-nic: a simulated NIC as a process. Prints "ready" when programs can open it.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include <arpa/inet.h>
#include <getopt.h>
#include <sys/prctl.h>

#include "nic.h"

namespace {

using namespace downbeat;

volatile std::sig_atomic_t stop = 0;

constexpr const char *usage = "downbeat-nic (--tap NAME | --interface NAME | --loop ADDRESS) [--device simd:PATH]\n"
                              "             [--preset NAME] [--ip ADDRESS/BITS] [--gateway ADDRESS]\n"
                              "             [--mac XX:XX:XX:XX:XX:XX] [--mode OCTAL] [--delay NANOSECONDS]\n";

[[noreturn]] void wrong(const std::string &problem) { throw Failure(DOWNBEAT_INVALID_ARGUMENT, problem); }

std::uint32_t addressOf(const std::string &text) {
  in_addr address;
  if (inet_pton(AF_INET, text.c_str(), &address) != 1) wrong("'" + text + "' is not an IPv4 address");
  return ntohl(address.s_addr);
}

std::uint64_t macOf(const std::string &text) {
  unsigned bytes[6];
  if (std::sscanf(text.c_str(), "%2x:%2x:%2x:%2x:%2x:%2x", &bytes[0], &bytes[1], &bytes[2], &bytes[3], &bytes[4],
                  &bytes[5]) != 6)
    wrong("'" + text + "' is not a MAC address: write 02:00:00:00:00:01");
  std::uint64_t mac = 0;
  for (const unsigned byte : bytes) mac = mac << 8 | byte;
  return mac;
}

void setAddress(Addresses &addresses, const std::string &text) {
  const auto slash = text.find('/');
  const int bits = slash == std::string::npos ? 24 : std::atoi(text.c_str() + slash + 1);
  if (bits < 1 || bits > 32) wrong("'" + text + "': use a prefix of 1 to 32 bits: 10.0.0.1/24");
  addresses.ip = addressOf(text.substr(0, slash));
  addresses.netmask = ~std::uint32_t{0} << (32 - bits);
}

unsigned modeOf(const std::string &text) {
  if (text.size() < 3 || text.size() > 4 || text.find_first_not_of("01234567") != std::string::npos)
    wrong("'" + text + "' is not a mode: three or four octal digits, as 660");
  return static_cast<unsigned>(std::stoul(text, nullptr, 8));
}

std::uint64_t delayOf(const std::string &text) {
  constexpr std::size_t digits = 10;
  if (text.empty() || text.size() > digits || text.find_first_not_of("0123456789") != std::string::npos)
    wrong("'" + text + "' is not a delay: whole ns, less than 10 s");
  return std::stoull(text);
}

std::string socketOf(const std::string &uri) {
  constexpr std::string_view scheme = "simd:";
  if (!uri.starts_with(scheme)) wrong("'" + uri + "' is no NIC process: write simd:PATH, as simd:/tmp/nic.sock");
  return uri.substr(scheme.size());
}

nic::Options parse(int count, char **arguments) {
  static const option names[] = {
      {"device", 1, nullptr, 'd'},    {"preset", 1, nullptr, 'p'}, {"tap", 1, nullptr, 't'},
      {"interface", 1, nullptr, 'n'}, {"ip", 1, nullptr, 'i'},     {"gateway", 1, nullptr, 'g'},
      {"mac", 1, nullptr, 'm'},       {"mode", 1, nullptr, 'o'},   {"loop", 1, nullptr, 'l'},
      {"delay", 1, nullptr, 'e'},     {nullptr, 0, nullptr, 0}};
  nic::Options options;
  for (int name; (name = getopt_long(count, arguments, "", names, nullptr)) >= 0;) {
    switch (name) {
    case 'd': options.socket = socketOf(optarg); break;
    case 'p': options.preset = optarg; break;
    case 't': options.tap = optarg; break;
    case 'n': options.interface = optarg; break;
    case 'i': setAddress(options.addresses, optarg); break;
    case 'g': options.addresses.gateway = addressOf(optarg); break;
    case 'l': options.loop = addressOf(optarg); break;
    case 'm': options.addresses.mac = macOf(optarg); break;
    case 'e': options.delay = delayOf(optarg); break;
    case 'o': options.mode = modeOf(optarg); break;
    default: wrong(std::string("wrong arguments\n") + usage);
    }
  }
  if (!options.tap.empty() + !options.interface.empty() + (options.loop != 0) != 1)
    wrong("a NIC has one wire: --tap NAME, --interface NAME, or, without root, --loop ADDRESS (as 10.0.0.2)");
  return options;
}

} // namespace

int main(int count, char **arguments) {
  struct sigaction action{};
  action.sa_handler = [](int) { stop = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  try {
    nic::Nic nic(parse(count, arguments));
    std::printf("ready: %s\n", nic.description().c_str());
    std::fflush(stdout);
    nic.run(stop);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "downbeat-nic: %s\n", error.what());
    return 1;
  }
}
