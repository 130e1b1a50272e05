/// The text form of evidence: one line for each record (docs/tuning.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "evidence/evidence.hpp"
#include "schedule/lines.hpp"
#include "schedule/result.hpp"

namespace swapmeet {

/// The first word of a line, which says whether it is a rule or a measurement.
inline constexpr std::string_view rule_word = "rule:", measurement_word = "took:";

/// Returns evidence as a line. A measurement: `took: alltoall ranks=64 nodes=8 per-node=8 bytes=64 use=SPEC calls=9
/// mean_us=12.3 spread_us=0.4 by=trial date=2026-01-02T03:04:05Z made=200 program=0123456789abcdef`; the last two words
/// are missing if the number of calls is unknown. A rule: `rule: alltoall ranks=2..4 nodes=1 bytes=0..512 use=SPEC`;
/// conditions that all calls fulfil are missing.
std::string evidence_line(const Evidence& evidence);

/// Parses the current line of a text, which has words. The words of a measurement have a fixed order. The conditions of
/// a rule come in any order, each may be missing, and a comment (# ...) may follow.
Result<Evidence> parse_evidence(const Lines& line);

/// Returns a date as "2026-01-02T03:04:05Z".
std::string date_text(std::int64_t date);

/// Returns a number as 16 hexadecimal digits.
std::string hexadecimal(std::uint64_t number);

}  // namespace swapmeet
