// Memory that domains have, by the first entry of their tables: whether the physical accesses that a translation leads
// to are theirs. The list is the image's, not the tables'; it comes from whoever starts the run.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace frames {

// Bits of rights, as the kinds of accesses are numbered: load, store, fetch.
enum Access : unsigned { Load = 0, Store = 1, Fetch = 2 };

class Frames {
  public:
    // Lines of five hexadecimal numbers: first entry, rights, first address, the one behind the last, and the domain's
    // own address of the first; 0 where each page has one of its own. False: it is no such file.
    bool read(const char *path) {
        std::ifstream file(path);
        file >> std::hex;
        for (uint32_t space, rights, first, end, at; file >> space >> rights >> first >> end >> at;)
            ranges_[space].push_back({rights, first, end, at});
        return file.eof() && !ranges_.empty();
    }

    // Whether an access of four bytes at most, aligned, is one that the domain with these tables may make.
    bool has(uint32_t space, Access access, uint32_t address) const {
        const auto own = ranges_.find(space);
        if (own == ranges_.end())
            return false;
        for (const Range &range : own->second)
            if (address >= range.first && address < range.end && range.rights >> access & 1)
                return true;
        return false;
    }

    // The physical address of a domain's own; none where nothing says it.
    std::optional<uint32_t> physical(uint32_t space, uint32_t address) const {
        const auto own = ranges_.find(space);
        if (own == ranges_.end())
            return std::nullopt;
        for (const Range &range : own->second)
            if (range.at != 0 && address - range.at < range.end - range.first)
                return range.first + (address - range.at);
        return std::nullopt;
    }

    bool empty() const { return ranges_.empty(); }

  private:
    struct Range {
        uint32_t rights, first, end, at;
    };
    std::map<uint32_t, std::vector<Range>> ranges_;
};

} // namespace frames
