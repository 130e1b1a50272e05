#include "algorithms/phase.hpp"

#include <algorithm>

namespace swapmeet {

namespace {

/// For each parcel: a place for it in scratch, from `end` on, or no blocks if it goes as it lies.
Runs stage(const Phase& phase, const std::vector<Parcel>& parcels, std::int32_t& end) {
  Runs staged(parcels.size(), Run{.count = 0});
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const Runs& blocks = parcels[i].blocks;
    if (!phase.packs || (blocks.size() == 1 && blocks[0].stride == 1)) continue;
    staged[i] = {Buffer::scratch, end, 0, 1};
    for (const Run& part : blocks) staged[i].count += part.count;
    end += staged[i].count;
  }
  return staged;
}

std::span<const Run> as_sent(const Parcel& parcel, const Run& staged) {
  return staged.count > 0 ? std::span(&staged, 1) : std::span(parcel.blocks);
}

void copy(ScheduleBuilder& plan, std::span<const Run> from, std::span<const Run> to) {
  std::int32_t taken = 0, put = 0;  // of the first run of either
  while (!from.empty()) {
    const std::int32_t count = std::min(from[0].count - taken, to[0].count - put);
    plan.copy(run_of(from[0].buffer, from[0].block(taken), count, from[0].stride),
              run_of(to[0].buffer, to[0].block(put), count, to[0].stride));
    if ((taken += count) == from[0].count) from = from.subspan(1), taken = 0;
    if ((put += count) == to[0].count) to = to.subspan(1), put = 0;
  }
}

void add_messages(ScheduleBuilder& plan, const Spec& spec, const Phase& phase, const Runs& packed, const Runs& landed) {
  const bool by_height = spec.window != 0 && spec.completion == Completion::all;
  const std::int32_t at_a_time = by_height ? spec.window : std::max(1, phase.heights);
  std::size_t out = 0, in = 0;
  for (std::int32_t done = 0; done == 0 || done < phase.heights; done += at_a_time) {
    plan.step(by_height ? 0 : spec.window, spec.completion, spec.posting);
    for (const auto& [from, to] : phase.copies)
      if (done == 0) copy(plan, from, to);
    for (; out < packed.size() && phase.outgoing[out].height - done <= at_a_time; ++out)
      plan.send(phase.outgoing[out].peer, as_sent(phase.outgoing[out], packed[out]), phase.outgoing[out].last);
    for (; in < landed.size() && phase.incoming[in].height - done <= at_a_time; ++in)
      plan.receive(phase.incoming[in].peer, as_sent(phase.incoming[in], landed[in]), phase.incoming[in].last);
  }
}

}  // namespace

Run run_of(Buffer buffer, std::int32_t first, std::int32_t count, std::int32_t stride) {
  return {buffer, first, count, count == 1 ? 1 : stride};
}

std::int32_t add_phase(ScheduleBuilder& plan, const Spec& spec, const Phase& phase) {
  std::int32_t end = phase.stage;
  const Runs packed = stage(phase, phase.outgoing, end), landed = stage(phase, phase.incoming, end);
  const bool packs = phase.packs && phase.heights > 0;
  if (packs) plan.copies(Purpose::pack);
  for (std::size_t i = 0; i < packed.size(); ++i)
    if (packed[i].count > 0) copy(plan, phase.outgoing[i].blocks, {&packed[i], 1});
  add_messages(plan, spec, phase, packed, landed);
  if (packs) plan.copies(Purpose::unpack);
  for (std::size_t i = 0; i < landed.size(); ++i)
    if (landed[i].count > 0) copy(plan, {&landed[i], 1}, phase.incoming[i].blocks);
  return end;
}

}  // namespace swapmeet
