// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "policy_arguments.h"

#include <array>
#include <utility>
#include <vector>

#include "bits.h"
#include "downbeat_build.h"
#include "names.h"

namespace downbeat {

namespace {

struct Field {
  const char *name;
  unsigned offset, width;
  std::uint64_t min, max;
};

struct Arguments {
  unsigned bits;
  bool needed;
  std::vector<Field> fields;
  std::vector<std::pair<unsigned, unsigned>> notAbove; // the first field not above the second
};

const std::vector<Arguments> startupArguments = DOWNBEAT_STARTUP_POLICY_ARGUMENTS;
const std::vector<Arguments> steadyArguments = DOWNBEAT_STEADY_POLICY_ARGUMENTS;

} // namespace

std::string argumentProblem(PolicyFamily family, int policy, const std::uint64_t (&argument)[2]) {
  const bool isStartup = family == PolicyFamily::startup;
  const Arguments &takes = (isStartup ? startupArguments : steadyArguments).at(static_cast<std::size_t>(policy));
  const std::string name = isStartup ? startupText(policy) : steadyText(policy);
  const std::array<std::uint32_t, 4> words{
      static_cast<std::uint32_t>(argument[0]), static_cast<std::uint32_t>(argument[0] >> 32),
      static_cast<std::uint32_t>(argument[1]), static_cast<std::uint32_t>(argument[1] >> 32)};
  const auto value = [&](const Field &field) { return getBits(words, field.offset, field.width); };
  if (argument[0] == 0 && argument[1] == 0) return takes.needed ? name + " needs an argument" : "";
  if (takes.bits == 0) return name + " takes no argument: leave it zero";
  for (unsigned bit = takes.bits; bit < 128; ++bit)
    if (getBits(words, bit, 1) != 0)
      return name + " takes an argument of " + std::to_string(takes.bits) + " bits: leave those above zero";
  for (const Field &field : takes.fields)
    if (value(field) < field.min || value(field) > field.max)
      return name + ": " + field.name + " is " + std::to_string(value(field)) + " (as the bits have it), use " +
             std::to_string(field.min) + " to " + std::to_string(field.max);
  for (const auto &[lesser, greater] : takes.notAbove)
    if (value(takes.fields[lesser]) > value(takes.fields[greater]))
      return name + ": " + takes.fields[lesser].name + " is above " + takes.fields[greater].name;
  return "";
}

} // namespace downbeat
