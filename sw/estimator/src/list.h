/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** Doubly linked lists through an array's records, by place: constant time, no memory of their own. */
#pragma once

#include <vector>

#include "hash.h"

namespace downbeat::estimator {

struct Links {
  uint32_t before = NOWHERE;
  uint32_t after = NOWHERE;
};

struct Ends {
  uint32_t first = NOWHERE;
  uint32_t last = NOWHERE;
};

template <class Record> void append(std::vector<Record> &records, Links Record::*links, Ends &ends, uint32_t place) {
  (records[place].*links) = {ends.last, NOWHERE};
  (ends.last == NOWHERE ? ends.first : (records[ends.last].*links).after) = place;
  ends.last = place;
}

template <class Record> void unlink(std::vector<Record> &records, Links Record::*links, Ends &ends, uint32_t place) {
  const Links own = records[place].*links;
  (own.before == NOWHERE ? ends.first : (records[own.before].*links).after) = own.after;
  (own.after == NOWHERE ? ends.last : (records[own.after].*links).before) = own.before;
  (records[place].*links) = {};
}

} // namespace downbeat::estimator
