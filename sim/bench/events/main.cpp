// SPDX-License-Identifier: BSD-2-Clause-Patent
// Prints one JSON object. Exit status 0: nothing was wrong; 2: the object says what.
//   events_bench ORDER COUNT SEED passing FLOWS
//   events_bench ORDER COUNT SEED sending STARTUP:ARGUMENT:STEADY:ARGUMENT:SSTHRESH...   arguments in hexadecimal, one
//   for each flow
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>

#include "module.h"
#include "passing.h"
#include "sending.h"

namespace {

using namespace events;

std::array<std::uint32_t, 4> words(std::string hexadecimal) {
  constexpr std::size_t digits = 32;
  hexadecimal.insert(0, digits - hexadecimal.size(), '0');
  const auto word = [&](std::size_t at) {
    return static_cast<std::uint32_t>(std::stoul(hexadecimal.substr(at, 8), nullptr, 16));
  };
  return {word(24), word(16), word(8), word(0)};
}

Policies policies(const std::string &text) {
  std::istringstream in(text);
  std::array<std::string, 5> part;
  for (std::string &each : part) std::getline(in, each, ':');
  const auto number = [&](int index) { return static_cast<unsigned>(std::stoul(part[index])); };
  return {number(0), number(2), words(part[1]), words(part[3]), number(4)};
}

std::string figures(const Line &line) {
  std::ostringstream out;
  out << "\"events\": " << line.events << ", \"clocks\": " << line.clocks << ", \"calculations\": " << line.calculations
      << ", \"kinds\": [";
  for (unsigned each = 0; each < kinds; ++each) out << (each ? ", " : "") << line.ofKind[each];
  out << "]";
  return out.str();
}

std::string passing(Order order, std::uint64_t count, std::uint64_t seed, unsigned of) {
  Passing load(order, of, seed);
  Module dut(load);
  constexpr std::uint64_t filling = 1000; // events until the line is full
  dut.run(filling);
  const Line line = dut.run(count);
  dut.drain();
  return figures(line);
}

std::string sending(Order order, std::uint64_t count, std::uint64_t seed, const std::vector<Policies> &of) {
  Sending load(order, of, seed);
  Module dut(load);
  constexpr std::uint64_t some = 1000;
  for (int rounds = 0; !load.allEstablished(); ++rounds) {
    if (rounds == 100) throw Failure("the connections are not established");
    dut.run(some);
  }
  dut.run(some);
  const std::uint64_t segments = load.segments, again = load.retransmissions;
  const Line line = dut.run(count);
  const std::string more = ", \"segments\": " + std::to_string(load.segments - segments) +
                           ", \"retransmissions\": " + std::to_string(load.retransmissions - again);
  dut.drain();
  return figures(line) + more;
}

} // namespace

int main(int count, char **arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.size() < 5)
    return std::fputs("events_bench ORDER COUNT SEED passing|sending ..., as in main.cpp\n", stderr), 1;
  const Order order = words[0] == "round" ? Order::round : words[0] == "one" ? Order::one : Order::random;
  const std::uint64_t events = std::stoull(words[1]), seed = std::stoull(words[2]);
  try {
    std::vector<Policies> of;
    if (words[3] == "sending")
      for (std::size_t flow = 4; flow < words.size(); ++flow) of.push_back(policies(words[flow]));
    const std::string found = of.empty() ? passing(order, events, seed, static_cast<unsigned>(std::stoul(words[4])))
                                         : sending(order, events, seed, of);
    std::printf("{\"failure\": \"\", %s}\n", found.c_str());
  } catch (const Failure &failure) {
    std::printf("{\"failure\": \"%s\"}\n", failure.what());
    return 2;
  }
}
