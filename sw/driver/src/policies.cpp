// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "policies.h"

#include <array>
#include <charconv>
#include <span>

namespace downbeat {

namespace {

#define DOWNBEAT_NAME(name) name,
constexpr std::array startups = {DOWNBEAT_STARTUP_POLICIES(DOWNBEAT_NAME)};
constexpr std::array steadies = {DOWNBEAT_STEADY_POLICIES(DOWNBEAT_NAME)};
#undef DOWNBEAT_NAME

std::span<const char *const> namesOf(PolicyFamily family) {
  if (family == PolicyFamily::startup) return startups;
  return steadies;
}

} // namespace

std::uint32_t policyHash() { return DOWNBEAT_POLICY_HASH; }

const char *policyName(PolicyFamily family, unsigned number) {
  const auto names = namesOf(family);
  return number < names.size() ? names[number] : nullptr;
}

std::string policyNames(PolicyFamily family) {
  std::string all;
  for (const char *name : namesOf(family)) all += (all.empty() ? "" : ", ") + std::string(name);
  return all;
}

std::optional<std::uint8_t> policyNumber(PolicyFamily family, std::string_view name, bool known) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error == std::errc{} && end == name.data() + name.size() && number <= UINT8_MAX)
    return static_cast<std::uint8_t>(number);
  const auto names = namesOf(family);
  for (std::size_t each = 0; known && each < names.size(); ++each)
    if (names[each] == name) return static_cast<std::uint8_t>(each);
  return std::nullopt;
}

} // namespace downbeat
