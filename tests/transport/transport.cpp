/// Tries the messages inside a node without MPI: processes, or threads, that exchange random messages over one segment.
///
///   transport exchange [members=N] [cells=N] [bulk=BYTES] [seed=N] [steps=N] [most=BYTES] [threads=1]
///             [offered=PERCENT] [readable=all|none|some|dead] [cut=PERCENT] [first=NUMBER]
///             [rows=BYTES] [failing=PERCENT]
///   transport lines members=N rows=BYTES most=BYTES
///   transport swap [cells=N] [bulk=BYTES] [rows=BYTES] [most=BYTES]
///   transport layout | segment | arenas | poll | wait | death | beyond
///   transport reserve BYTES
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "member.hpp"
#include "row_member.hpp"

using namespace swapmeet;

static std::atomic<int> yields = 0;
static bool no_memory = false;  ///< for files

extern "C" int sched_yield() noexcept {  // instead of the C library's
  ++yields;
  return static_cast<int>(syscall(SYS_sched_yield));
}

extern "C" int posix_fallocate(int file, off_t first, off_t bytes) {  // instead of the C library's
  if (no_memory) return ENOSPC;
  return fallocate(file, 0, first, bytes) == 0 ? 0 : errno;
}

namespace {

[[noreturn]] void give_up(const std::string& why) {
  std::printf("transport: %s\n", why.c_str());
  std::exit(2);
}

void must(bool right, const char* what) {
  if (!right) give_up(std::string("not so: ") + what);
}

/// A process that is no more.
pid_t dead_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

/// What all members share before they share the segment: a page that forks inherit.
struct Meeting {
  std::atomic<std::uint32_t> here, opened;
  std::atomic<pid_t> processes[64];
};

std::vector<pid_t> readable_processes(const Settings& settings, const Meeting& meeting, std::uint32_t me, pid_t dead) {
  std::vector<pid_t> processes;
  for (std::uint32_t other = 0; other < settings.members; ++other) {
    const pid_t process = meeting.processes[other];
    switch (settings.readable) {
      case Settings::Readable::all: processes.push_back(process); break;
      case Settings::Readable::none: processes.push_back(0); break;
      case Settings::Readable::dead: processes.push_back(dead); break;
      case Settings::Readable::some:
        processes.push_back((me + other) % 3 == 0 ? 0 : (me + other) % 3 == 1 ? dead : process);
        break;
    }
  }
  return processes;
}

Node make_node(const Settings& settings, const NodeLayout& layout, const SegmentName& name, Meeting& meeting,
               std::uint32_t me, pid_t dead) {
  Segment segment;
  if (const std::string problem = segment.open(name, layout.bytes()); !problem.empty()) give_up(problem);
  const std::size_t first = me == 0 ? 0 : layout.bulk(me);
  const std::string problem = segment.reserve(first, layout.bulk(me + 1) - first);
  if (!problem.empty()) give_up(problem);
  meeting.processes[me] = getpid();
  ++meeting.here;
  while (meeting.here < settings.members) usleep(100);
  static Regions none;
  return Node(NodeMemory(std::move(segment)), layout, me, readable_processes(settings, meeting, me, dead), none);
}

int run_member(const Settings& settings, Node& node, std::uint32_t me) {
  return settings.row_block_bytes > 0 ? RowMember(settings, node, me).run() : Member(settings, node, me).run();
}

int run_processes(const Settings& settings, const NodeLayout& layout, Segment& segment, Meeting& meeting, pid_t dead) {
  std::vector<pid_t> children;
  for (std::uint32_t me = 0; me < settings.members; ++me) {
    const pid_t child = fork();
    if (child == 0) {
      Node node = make_node(settings, layout, segment.name(), meeting, me, dead);
      const int wrong = run_member(settings, node, me);
      std::fflush(stdout);
      _exit(wrong != 0);
    }
    children.push_back(child);
  }
  while (meeting.here < settings.members) usleep(100);
  segment.unlink();
  int wrong = 0;
  for (std::size_t left = children.size(); left > 0; --left) {
    int status = 0;
    wait(&status);
    if (status == 0 || wrong++ > 0) continue;
    for (const pid_t child : children) kill(child, SIGKILL);  // they may wait for it
  }
  return wrong;
}

/// Cells that go from member 0 to member 1 before anything else, so that numbers begin at `count`.
void count_up(Node& from, Node& to, std::uint32_t count) {
  Outlet& out = from.link(1).out;
  Inlet& in = to.link(0).in;
  for (std::uint32_t k = 0; k < count; ++k) {
    out.hand_over(*out.next(), 1, 0);
    must(in.next(), "a cell that was handed over arrives");
    in.emptied();
  }
}

int run_threads(const Settings& settings, const NodeLayout& layout, Segment& segment, Meeting& meeting, pid_t dead) {
  std::deque<Node> nodes;
  std::atomic<int> wrong = 0;
  meeting.here = settings.members;
  for (std::uint32_t me = 0; me < settings.members; ++me) meeting.processes[me] = getpid();
  for (std::uint32_t me = 0; me < settings.members; ++me) {
    nodes.push_back(make_node(settings, layout, segment.name(), meeting, me, dead));
    // ThreadSanitizer knows memory by its address, so threads have one mapping. (Else each member has its own.)
    for (std::uint32_t other = 0; other < settings.members; ++other)
      connect(nodes.back().link(other), layout, segment.memory(), me, other);
    nodes.back().rows() = rows_in(layout, segment.memory(), me);
  }
  segment.unlink();
  if (settings.first_number > 0) count_up(nodes[0], nodes[1], settings.first_number);
  std::vector<std::thread> threads;
  for (std::uint32_t me = 0; me < settings.members; ++me)
    threads.emplace_back([&, me] { wrong += run_member(settings, nodes[me], me); });
  for (std::thread& thread : threads) thread.join();
  return wrong;
}

Settings::Readable readable(const std::string& word) {
  if (word == "all") return Settings::Readable::all;
  if (word == "none") return Settings::Readable::none;
  if (word == "some") return Settings::Readable::some;
  if (word == "dead") return Settings::Readable::dead;
  give_up("what is readable=" + word + "?");
}

Settings read_settings(int count, char** words) {
  Settings settings;
  for (int k = 0; k < count; ++k) {
    const std::string word = words[k], name = word.substr(0, word.find('='));
    const char* const text = words[k] + name.size() + 1;
    const auto number = static_cast<std::uint32_t>(std::strtoul(text, nullptr, 0));
    if (name == "members") settings.members = number;
    else if (name == "cells") settings.channel.cells = number;
    else if (name == "bulk") settings.channel.bulk_bytes = number;
    else if (name == "seed") settings.seed = number;
    else if (name == "steps") settings.steps = number;
    else if (name == "most") settings.most_bytes = number;
    else if (name == "threads") settings.threads = number;
    else if (name == "offered") settings.offered = number;
    else if (name == "readable") settings.readable = readable(text);
    else if (name == "cut") settings.cut = number;
    else if (name == "rows") settings.row_block_bytes = number;
    else if (name == "failing") settings.failing = number;
    else if (name == "first") settings.first_number = number;
    else give_up("what is " + word + "?");
  }
  return settings;
}

int exchange(const Settings& settings) {
  const NodeLayout layout{settings.members, settings.channel, settings.row_block_bytes};
  Segment shared, segment;
  if (const std::string problem = shared.make(sizeof(Meeting), Segment::Naming::of_system); !problem.empty())
    give_up(problem);
  shared.unlink();
  if (const std::string problem = segment.make(layout.bytes(), Segment::Naming::of_system); !problem.empty())
    give_up(problem);
  auto* const meeting = new (shared.memory()) Meeting{};
  const pid_t dead = dead_process();
  const int wrong = settings.threads ? run_threads(settings, layout, segment, *meeting, dead)
                                     : run_processes(settings, layout, segment, *meeting, dead);
  std::printf("transport: %d wrong\n", wrong);
  return wrong != 0;
}

/// Memory of a layout, and so many of its members in this process, each with a mapping of its own.
struct OpenedNodes {
  explicit OpenedNodes(const NodeLayout& layout, std::uint32_t opened) {
    if (const std::string problem = segment.make(layout.bytes(), Segment::Naming::of_process); !problem.empty())
      give_up(problem);
    static Regions none;
    const std::vector<pid_t> processes(layout.members, 0);
    for (std::uint32_t me = 0; me < opened; ++me) {
      Segment mine;
      must(mine.open(segment.name(), layout.bytes()).empty(), "a segment can be opened");
      nodes.emplace_back(NodeMemory(std::move(mine)), layout, me, processes, none);
    }
  }

  Segment segment;
  std::deque<Node> nodes;
};

/// Sends a block of as many bytes from each member to each other, by rows or by channels, and again so that most bytes
/// change. Prints how many cache lines of shared memory that writes.
int count_lines(const Settings& settings) {
  const NodeLayout layout{settings.members, {2, 4160}, settings.row_block_bytes};
  OpenedNodes opened(layout, settings.members);
  std::deque<Node>& nodes = opened.nodes;
  std::vector<char> before, bytes(settings.most_bytes);
  const Piece piece{bytes.data(), bytes.size()};
  for (std::uint16_t call = 1; call <= 3; ++call) {
    std::ranges::fill(bytes, static_cast<char>(call));
    before.assign(opened.segment.memory(), opened.segment.memory() + layout.bytes());
    std::vector<std::pair<Node*, Transfer>> transfers;
    for (const bool outgoing : {true, false})
      for (std::uint32_t me = 0; me < settings.members; ++me) {
        if (outgoing && settings.row_block_bytes > 0) nodes[me].rows().begin(call, bytes.size());
        for (std::uint32_t other = 0; other < settings.members; ++other) {
          if (other == me) continue;
          NodeLink& link = nodes[me].link(other);
          const std::span pieces(&piece, 1);
          if (settings.row_block_bytes == 0)
            transfers.emplace_back(&nodes[me], outgoing ? Transfer::send(link, pieces, bytes.size(), {}, call)
                                                        : Transfer::receive(link, pieces, bytes.size(), call));
          else if (outgoing)
            must(nodes[me].rows().ready(), "a row can be written"), nodes[me].rows().write(other, piece);
          else transfers.emplace_back(&nodes[me], Transfer::by_rows(link, pieces, bytes.size(), false, call));
        }
        if (!outgoing || settings.row_block_bytes == 0) continue;
        nodes[me].rows().mark_posted();
        must(nodes[me].raise(), "a flag is raised");
      }
    for (auto& [node, transfer] : transfers) must(node->advance(transfer) && transfer.done(), "all is there");
  }
  std::size_t lines = 0;
  for (std::size_t at = 0; at < layout.bytes(); at += 64)
    lines += std::memcmp(&before[at], opened.segment.memory() + at, 64) != 0;
  std::printf("transport: %zu lines\n", lines);
  return 0;
}

/// Two members swap blocks of most_bytes in place, by channels or by rows, in every order in which their transfers can go
/// on. Prints how many orders there are.
int swap_in_every_order(const Settings& settings) {
  const NodeLayout layout{2, settings.channel, settings.row_block_bytes};
  OpenedNodes opened(layout, 2);
  std::deque<Node>& nodes = opened.nodes;
  const bool by_rows = settings.row_block_bytes >= settings.most_bytes;
  std::vector<char> blocks[2] = {std::vector<char>(settings.most_bytes), std::vector<char>(settings.most_bytes)};
  std::vector<std::size_t> chosen;  // of the transfers: which went on, in the order that is tried
  long orders = 0;
  std::uint16_t call = 0;
  do {
    const auto byte = [&](std::uint32_t of, std::size_t i) {
      return static_cast<char>(call * 7 + static_cast<long>(i / 8) + (of ? 101 : 0));
    };
    std::array<Piece, 2> pieces;
    std::vector<std::pair<std::uint32_t, Transfer>> transfers;
    for (std::uint32_t me = 0; me < 2; ++me) {
      for (std::size_t i = 0; i < settings.most_bytes; ++i) blocks[me][i] = byte(me, i);
      pieces[me] = {blocks[me].data(), blocks[me].size()};
      nodes[me].begin_in_place();
      if (by_rows) nodes[me].rows().begin(call, settings.most_bytes), nodes[me].rows().defer();
      for (const bool outgoing : {true, false}) {
        NodeLink& link = nodes[me].link(1 - me);
        const std::span all(&pieces[me], 1);
        Transfer transfer = by_rows    ? Transfer::by_rows(link, all, settings.most_bytes, outgoing, call)
                            : outgoing ? Transfer::send(link, all, settings.most_bytes, {}, call)
                                       : Transfer::receive(link, all, settings.most_bytes, call);
        transfer.in_place = !outgoing;
        transfers.emplace_back(me, transfer);
      }
    }
    for (const std::uint32_t me : {0, 1})
      if (by_rows) nodes[me].rows().mark_posted();
    const auto over = [](const auto& one) { return one.second.done(); };
    const auto goes_on = [&](std::size_t which) {
      auto& [me, transfer] = transfers[which];
      const bool moved = !transfer.done() && nodes[me].advance(transfer);
      if (moved && by_rows && transfer.outgoing) must(nodes[me].raise(), "a flag is raised");
      return moved;
    };
    bool is_new = true;
    for (std::size_t step = 0; !std::ranges::all_of(transfers, over); ++step) {
      if (is_new && step == chosen.size()) chosen.push_back(0);
      std::size_t which = is_new ? chosen[step] : 0;
      while (which < transfers.size() && !goes_on(which)) ++which;
      if (is_new) chosen[step] = which;
      if (which < transfers.size()) continue;
      must(is_new, "somebody can always go on");
      is_new = false;  // all that can go on here have been tried here: to the end, for the next one
      chosen.resize(step + 1);
    }
    for (std::uint32_t me = 0; me < 2; ++me)
      for (std::size_t i = 0; i < settings.most_bytes; ++i)
        must(blocks[me][i] == byte(1 - me, i), "the blocks have changed places");
    orders += is_new;
    ++call;
    while (!chosen.empty() && chosen.back() >= transfers.size() - 1) chosen.pop_back();
    if (!chosen.empty()) ++chosen.back();
  } while (!chosen.empty());
  std::printf("transport: %ld orders\n", orders);
  return 0;
}

/// The largest channels that fit, in whole cache lines; or none.
int check_layouts() {
  for (std::uint32_t members = 1; members <= 600; members = members * 5 / 4 + 1)
    for (std::size_t most = 0; most < (std::size_t{1} << 34); most = most * 3 / 2 + 511) {
      const NodeLayout layout = NodeLayout::within(members, most);
      const NodeLayout least{members, {2, 64}};
      must((layout.channel.cells == 0) == (least.bytes() > most), "there are channels exactly where the least fit");
      if (layout.channel.cells == 0) continue;
      must(layout.bytes() <= most, "a layout keeps to its limit");
      must(layout.channel.bulk_bytes % 128 == 64, "the bulk of a cell is an odd number of cache lines");
      must((layout.channel.cells & (layout.channel.cells - 1)) == 0, "the number of cells is a power of two");
      must(layout.bulk(members - 1) % 4096 == 0, "each member has pages of its own");
      must(layout.cells(members - 1) + members * layout.channel.cells * sizeof(Cell) <= layout.bulk(0),
           "the cells fit in");
      const RowSize rows = layout.rows();
      must(layout.row_heads(members - 1) + rows.heads_bytes() <= layout.acknowledgements(0),
           "the heads of rows fit in");
      must(layout.row_bulks(members - 1) + rows.bulks_bytes() <= layout.bytes(), "and their bulk");
      must(layout.row_heads(members / 2) % 64 == 0 && layout.row_bulks(0) % 64 == 0, "rows begin with a cache line");
      for (std::size_t bytes = 1; bytes <= rows.block_bytes; bytes = bytes * 5 / 4 + 1) {
        const std::size_t last = rows.spacing(bytes).offset(members < 2 ? 0 : members - 2) + bytes;
        must(last <= rows.head_bytes() || rows.spacing(bytes).first >= rows.head_bytes(), "blocks are near or far");
        must(last <= rows.head_bytes() + rows.bulk_bytes(), "blocks of one size fit in a row");
      }
      must(layout.bulk(0) + members * layout.channel.cells * layout.channel.bulk_bytes <= layout.bulk(1),
           "and their bulk");
    }
  constexpr std::uint32_t many = 100000;  // whose square does not fit into 32 bits
  must(NodeLayout{many, {2, 64}}.bytes() >= std::size_t{many} * many * 5 * 64, "huge nodes are counted right");
  must(NodeLayout::within(many, std::size_t{1} << 40).channel.cells == 0, "and are refused what they would need");
  return 0;
}

std::string path(const SegmentName& name) {
  char text[80];
  std::snprintf(text, sizeof text, "/dev/shm/swapmeet-%d-%016llx", name.process,
                static_cast<unsigned long long>(name.random));
  return text;
}
bool exists(const SegmentName& name) { return access(path(name).c_str(), F_OK) == 0; }

void check_segments(Segment::Naming naming) {
  const bool of_system = naming == Segment::Naming::of_system;
  SegmentName name;
  {
    Segment made, opened, smaller, nothing;
    must(made.make(1 << 16, naming).empty(), "a segment can be made");
    name = made.name();
    struct stat status;
    must(exists(name) == of_system, "it has a name in /dev/shm if it should");
    must(!of_system || (stat(path(name).c_str(), &status) == 0 && (status.st_mode & 0777) == 0600),
         "nobody else can open it");
    must(!smaller.open(name, 1 << 12).empty(), "another size is refused");
    SegmentName other_name = name;
    other_name.random ^= 2;
    must(!nothing.open(other_name, 1 << 16).empty(), "another name is refused");
    must(opened.open(name, 1 << 16).empty(), "it can be opened");
    must(opened.name() == made.name(), "all know it by one name");
    must(made.reserve(0, 1 << 15).empty() && opened.reserve(1 << 15, 1 << 15).empty(), "it can be reserved");
    for (std::size_t k = 0; k < 1 << 16; ++k) must(opened.memory()[k] == 0, "it is zero");
    opened = Segment(std::move(opened));
    made.memory()[12345] = 77;
    must(opened.memory()[12345] == 77, "it is shared");
    made.unlink();
    made.close_file();
    must(!exists(name), "its name is taken away");
    Segment later;
    must(!later.open(name, 1 << 16).empty(), "it cannot be opened any more");
    must(opened.memory()[12345] == 77, "but stays");
    made.memory()[8191] = made.memory()[20000] = made.memory()[28672] = 77;
    opened.release(8192, 20480);
    must(made.memory()[12345] == 0 && made.memory()[20000] == 0, "pages of it can be given back");
    must(made.memory()[8191] == 77 && made.memory()[28672] == 77, "and no others");
    Segment other;
    must(other.make(4096, naming).empty() && other.name() != name, "each has another name");
    name = other.name();
    opened = std::move(other);
    must(exists(name) == of_system, "moving is not losing");
  }
  must(!exists(name), "a segment that nobody opened leaves no name");
}

/// Memory of 4 KiB units is given back to a kernel with pages of 64 KiB: neighbouring units lie in the same pages.
void check_large_pages() {
  constexpr std::size_t page = 1 << 16, unit = 1 << 12, bytes = 6 * page;
  Segment segment;
  must(segment.make(bytes, Segment::Naming::of_process).empty(), "a segment can be made");
  char* const aligned = segment.memory() + (page - reinterpret_cast<std::uintptr_t>(segment.memory()) % page) % page;
  const auto left = [&](std::size_t first, std::size_t length) {
    std::memset(segment.memory(), 1, bytes);
    const bool all = heap::advise_whole_pages(aligned + first, length, MADV_REMOVE, page);
    const auto wrong = [&](std::size_t k) {  // only pages that lie within as a whole are given back
      const bool within = k / page * page >= first && (k / page + 1) * page <= first + length;
      return aligned[k] != (within ? 0 : 1);
    };
    for (std::size_t k = 0; k < 5 * page; k += unit) must(!wrong(k) && !wrong(k + unit - 1), "no other page is lost");
    return !all;
  };
  must(!left(page, 2 * page), "pages are given back");
  must(left(page - unit, 2 * page + 2 * unit) && left(page + unit, 2 * page), "parts of pages are left");
  must(left(page, unit) && left(page + unit, page - unit) && left(unit, page), "there may be no whole page");
}

/// A program that closes files which it does not know, and gets their numbers for its own.
void check_files_closed_by_others() {
  Segment segment;
  must(segment.make(1 << 16, Segment::Naming::of_process).empty(), "a segment can be made");
  const int file = segment.name().file;
  close(file);
  const int own = open("/dev/null", O_RDWR);
  must(own == file, "the number is given again");
  must(!segment.reserve(0, 4096).empty(), "nothing is reserved in a file of somebody else");
  segment.close_file();
  must(fcntl(own, F_GETFD) != -1, "nor is it closed");
  close(own);
}

/// Only the beginning of an arena keeps its memory.
void check_what_arenas_keep() {
  constexpr std::size_t part_bytes = std::size_t{16} << 20;
  Arenas arenas;
  std::string problem;
  arenas.make(part_bytes);
  const ArenaPart first = arenas.take(), second = arenas.take();
  char* const memory = arenas.map(first, problem);
  for (const ArenaPart& part : {first, second}) {
    arenas.keep(part, part_bytes, 1);
    memory[part.first + 5000] = 77;
  }
  { const NodeMemory one(memory + first.first), two(memory + second.first); }
  must(arenas.take().first == first.first, "both are left");
  must(memory[first.first + 5000] == 77 && memory[second.first + 5000] == 0,
       "and the second is given back to the system");
}

/// What ranks read before another one has written it is 0.
void check_cleared_layouts() {
  for (const std::uint32_t members : {1u, 2u, 5u}) {
    const NodeLayout layout = NodeLayout::within(members, 1 << 20);
    std::vector<char> memory(layout.bytes(), 77);
    layout.clear(memory.data());
    const std::size_t begin = NodeLayout::waiter_slot(members), end = layout.acknowledgements(members);
    const auto at = [&](std::size_t place) { return memory.begin() + static_cast<std::ptrdiff_t>(place); };
    must(std::all_of(at(begin), at(end), [](char byte) { return byte == 0; }),
         "heads, acknowledgements and cells are 0");
    must(std::all_of(at(0), at(begin), [](char byte) { return byte == 77; }), "the header and the seats stay");
    must(std::all_of(at(layout.bulk(0)), memory.end(), [](char byte) { return byte == 77; }), "and so do blocks");
  }
}

/// Parts of an arena are given back when all have left them.
int check_arenas() {
  check_what_arenas_keep();
  check_cleared_layouts();
  Arenas arenas, others, none;
  arenas.make(1 << 16);
  const ArenaPart part = arenas.take();
  must(part.bytes == 1 << 16, "a part can be had");
  arenas.keep(part, 5000, 2);
  std::string problem;
  char* const here = arenas.map(part, problem);
  char* const there = others.map(part, problem);
  must(here && there && here != there, "others can map it");
  must(others.map(part, problem) == there, "once");
  here[4999] = 77;
  must(there[4999] == 77, "it is shared");
  must(arenas.take().first == 8192, "the next lies behind it");
  { const NodeMemory one(here); }
  const ArenaPart third = arenas.take();
  must(third.first == 8192 + (1 << 16), "a part that one has left is still there");
  { const NodeMemory two(there); }
  must(arenas.take().first == third.first + (1 << 16), "there is none where too little is free");
  arenas.give_back(third);
  must(arenas.take().first == third.first, "what was given back is taken again");
  must(arenas.take().bytes == 0, "when all is taken, there is none");
  must(here[4999] == 77, "what all have left stays as it is at the beginning of an arena");
  must(none.take().bytes == 0 && (none.give_back({}), none.take().bytes == 0), "without an arena, there is none");

  Arenas of_threads;
  of_threads.make(1 << 16);
  const ArenaPart left = of_threads.take();
  of_threads.keep(left, 5000, 1);
  { const NodeMemory one(of_threads.map(left, problem)); }
  const ArenaPart again = of_threads.take();
  must(again.first == left.first, "what all have left is taken by another thread");
  of_threads.keep(again, 5000, 1);
  must(of_threads.take().first != again.first, "nobody has left it, whatever is there of its last use");
  of_threads.give_back(left);
  must(of_threads.take().first != again.first, "and is not given back by the one that had it before");

  Arenas counted;
  counted.make(1 << 16, true);
  const ArenaPart without = counted.take();
  no_memory = true;
  must(!counted.keep(without, 5000, 1).empty(), "there is no part without memory for its header");
  no_memory = false;
  must(counted.keep(without, 5000, 1).empty(), "there is one with memory");
  return 0;
}

int check_segments() {
  check_segments(Segment::Naming::of_process);
  check_segments(Segment::Naming::of_system);
  check_large_pages();
  check_files_closed_by_others();
  Segment huge;
  must(!huge.make(std::size_t{1} << 60, Segment::Naming::of_process).empty(),
       "what there is no room for is refused at once");
  const rlimit little{1 << 16, 1 << 16};
  must(setrlimit(RLIMIT_FSIZE, &little) == 0, "files can be limited");
  Segment large;
  must(!large.make((1 << 16) + 1, Segment::Naming::of_process).empty(), "who may have no such file is not killed");
  return 0;
}

/// Reserves memory while signals come in, as a profiler's do.
int reserve(std::size_t bytes) {
  struct sigaction action{};
  action.sa_handler = [](int) {};
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  Segment segment;
  std::string problem = segment.make(bytes, Segment::Naming::of_system);
  if (problem.empty()) problem = segment.reserve(0, bytes);
  std::printf("transport: %s\n", problem.empty() ? "reserved" : problem.c_str());
  if (problem.empty()) std::memset(segment.memory(), 1, bytes);
  return !problem.empty();
}

/// Who waits lets others go on.
int check_poll() {
  Waiter waiter;
  int polls = 0;
  for (int turn = 0; turn < 10000; ++turn) waiter.turn(false, false, [&] { ++polls; });
  must(polls >= 10000 / 64 - 1, "who waits polls");
  polls = 0;
  for (int wait = 0; wait < 1000; ++wait) {  // also where something happens now and then
    waiter.moved();
    for (int turn = 0; turn < 70; ++turn) waiter.turn(turn % 2 == 0, false, [&] { ++polls; });
  }
  must(polls >= 1000, "who waits often polls");
  return 0;
}

/// Who waits gives its core away only to ranks that are on it; and if some are anywhere, or it has waited for long.
int check_wait() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  must(sched_setaffinity(0, sizeof one, &one) == 0, "a process can stay on a CPU");
  std::array<WaiterSlot, 3> seats{};
  Oversubscription three(3), two(2);
  Waiter waiter(seats, 0, three);
  const int here = seats[0].cpu_and_one, elsewhere = here + 1;
  must(here == sched_getcpu() + 1, "a rank says where it is");
  const auto yields_in = [&](int turns, bool late, bool anyone = false) -> int {
    yields = 0;
    waiter.moved();
    for (int turn = 0; turn < turns; ++turn) {
      if (late) waiter.waits_for(seats[1]);
      waiter.turn(false, anyone, [] {});
    }
    return yields.load();
  };
  must(yields_in(6400, true) == 6400, "who has not said where it is may be here");
  seats[1].cpu_and_one = seats[2].cpu_and_one = elsewhere;
  must(yields_in(6400, true) == 0, "a core is not given away to ranks that are elsewhere");
  seats[2].cpu_and_one = here;
  must(yields_in(6400, true) == 1600, "another rank that is here gets the core now and then");
  seats[1].cpu_and_one = here;
  must(yields_in(6400, true) == 6400, "a late rank that is here gets the core at once");
  seats[1].cpu_and_one = seats[2].cpu_and_one = elsewhere;
  must(yields_in(6400, true, true) > 6300, "anyone may be here");
  must(yields_in(164'000, true) == 1000, "who has waited for long gives the core away now and then");
  waiter = Waiter(seats, 0, two);
  must(yields_in(5000, true) == 1000, "where ranks share cores, they may have moved");
  three.has_ranks(4);
  waiter = Waiter(seats, 0, three);
  must(yields_in(6400, true) == 1600, "where ranks of other communicators share cores, they may be here");
  Oversubscription four(4);
  waiter = Waiter(seats, 0, four);
  must(yields_in(6400, true) == 0, "three ranks have a core each");
  four.waits();
  must(yields_in(6400, true) == 1597, "of two threads of each that wait, one may be here");
  four.goes_on();
  must(yields_in(6400, true) == 98, "and goes on: another such thread, which nobody sees, may be here now and then");
  Oversubscription single(4);
  waiter = Waiter(seats, 0, single);
  Waiter other(seats, 0, single);
  for (int turn = 0; turn < 100; ++turn) other.turn(false, false, [] {}, false);
  must(yields_in(6400, true) == 0, "what is pending beside a call is no thread that waits");
  for (int turn = 0; turn < 100; ++turn) other.turn(false, false, [] {});
  must(yields_in(6400, true) > 1000, "a call that waits is one");
  yields = 0;
  for (int turn = 0; turn < 6400; ++turn) waiter.turn(true, true, [] {});
  must(yields == 0, "who has work goes on");
  return 0;
}

/// What a receiver has refused, is not offered to it again, but one message in 64; messages of other sizes are.
int check_refusals() {
  const NodeLayout layout{2, {2, 4160}, 0};
  OpenedNodes opened(layout, 2);
  NodeLink &to = opened.nodes[0].link(1), &from = opened.nodes[1].link(0);
  to.process = getpid();  // and the sender's of the receiver is none, so that it takes up nothing
  constexpr int many = 256;
  std::vector<char> sent(20'000), received(sent.size());
  std::uint16_t call = 0;
  const auto is_offered = [&](std::size_t bytes) {
    std::ranges::fill(sent, static_cast<char>(++call));
    const Piece source{sent.data(), bytes}, place{received.data(), bytes};
    Transfer send = Transfer::send(to, {&source, 1}, bytes, {.by_kernel_bytes = 1}, call);
    Transfer receive = Transfer::receive(from, {&place, 1}, bytes, call);
    opened.nodes[0].advance(send);
    const bool offered = send.state == Transfer::State::announced;
    for (int turn = 0; turn < many && !(send.done() && receive.done()); ++turn)
      opened.nodes[1].advance(receive), opened.nodes[0].advance(send);
    must(send.done() && receive.done() && std::memcmp(sent.data(), received.data(), bytes) == 0, "a message arrives");
    return offered;
  };
  must(is_offered(10'000), "the first message is offered");
  int offers = 0;
  for (int k = 0; k < many; ++k) offers += is_offered(10'000);
  must(offers == many / 64, "of others like it, one in 64");
  must(is_offered(20'000), "one of another size is");
  std::printf("transport: 0 wrong\n");
  return 0;
}

/// Who waits for a member notices that its process has ended, and tells the others; not before.
int check_death() {
  const NodeLayout layout{3, {2, 4160}, 0};
  OpenedNodes opened(layout, 2);
  std::deque<Node>& nodes = opened.nodes;
  const pid_t third = fork();
  if (third == 0)
    while (true) pause();
  nodes[0].watch({0, 0, third});
  constexpr int many = 10'000;
  for (int k = 0; k < many; ++k) nodes[0].look_whether_broken();
  must(nodes[0].broken() == Broken::no, "who lives is not taken for dead");
  kill(third, SIGKILL);
  for (int k = 0; k < many && nodes[0].broken() == Broken::no; ++k) nodes[0].look_whether_broken(), usleep(100);
  must(nodes[0].broken() == Broken::rank_died, "a death is noticed, though nobody has waited for the process");
  nodes[1].look_whether_broken();
  must(nodes[1].broken() == Broken::rank_died, "the others learn of it");
  waitpid(third, nullptr, 0);
  std::printf("transport: 0 wrong\n");
  return 0;
}

}  // namespace

/// A byte behind a block of a row, which AddressSanitizer must report.
static int write_beyond() {
  const RowSize size{2, RowSize::line};
  std::vector<std::uint64_t> memory(2 * (size.heads_bytes() + size.bulks_bytes()) / sizeof(std::uint64_t));
  std::vector<RowPlace> places;
  char* next = reinterpret_cast<char*>(memory.data());
  for (int member = 0; member < 2; ++member, next += size.heads_bytes() + size.bulks_bytes())
    places.push_back({next, next + size.heads_bytes()});
  NodeRows writer(size, 0, places), reader(size, 1, places);
  char sent[8] = "a block";
  writer.begin(1, sizeof sent);
  reader.begin(1, sizeof sent);
  writer.write(1, {sent, sizeof sent});
  writer.mark_posted();
  if (!writer.raise()) give_up("the row is not written");
  const NodeRows::Block block = reader.look(0, 1);
  char* const end = const_cast<char*>(block.address) + block.bytes;
  end[-1] = end[0] = 0;
  return 0;
}

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  if (what == "exchange") return exchange(read_settings(count - 2, words + 2));
  if (what == "lines") return count_lines(read_settings(count - 2, words + 2));
  if (what == "swap") return swap_in_every_order(read_settings(count - 2, words + 2));
  if (what == "layout") return check_layouts();
  if (what == "segment") return check_segments();
  if (what == "refusals") return check_refusals();
  if (what == "arenas") return check_arenas();
  if (what == "poll") return check_poll();
  if (what == "wait") return check_wait();
  if (what == "death") return check_death();
  if (what == "beyond") return write_beyond();
  if (what == "reserve" && count > 2) return reserve(std::strtoull(words[2], nullptr, 0));
  give_up("what to do?");
}
