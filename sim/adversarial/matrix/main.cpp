// SPDX-License-Identifier: BSD-2-Clause-Patent
// Transfers between the core and ns-3's TCP, one after another: a line on stdin asks for one, a line on stdout tells of
// it.
//
// The first line out has the settings of ns-3. An abort of ns-3 ends the program without a line: that, too, is a
// result.
#include <exception>
#include <iostream>
#include <utility>

#include <ns3/nstime.h>
#include <ns3/simulator.h>

#include "transfer.h"

int main() {
  ns3::Time::SetResolution(ns3::Time::PS); // 6.4 ns of a byte at 10 Gb/s must not become 6
  const char *separator = "{";
  for (const auto &[name, value] : Peer::configure())
    std::cout << std::exchange(separator, ", ") << '"' << name << "\": \"" << value << '"';
  std::cout << ", \"rate_bps\": " << Transfer::rate << ", \"delay_ns\": " << Transfer::delay << "}" << std::endl;
  try {
    for (std::string line; std::getline(std::cin, line);) {
      {
        Transfer transfer(Cell::parse(line));
        transfer.run();
        transfer.print(std::cout);
      }
      std::cout.flush();
      ns3::Simulator::Destroy();
    }
  } catch (const std::exception &error) {
    std::cerr << "downbeat_matrix: " << error.what() << '\n';
    return 1;
  }
}
