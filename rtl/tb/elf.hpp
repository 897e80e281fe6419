// Reads the loadable segments of a 32-bit little-endian RISC-V ELF file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

namespace elf {

// Gives every word of every segment to `store`, at physical addresses, the zeroes behind a segment's file part too.
// Returns an empty string, or why the file cannot be loaded.
inline std::string load(const std::string &path, const std::function<bool(uint32_t, uint32_t)> &store) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return "cannot read " + path;
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    Elf32_Ehdr header;
    if (bytes.size() < sizeof header)
        return path + " is no ELF file";
    std::memcpy(&header, bytes.data(), sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS32 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_RISCV)
        return path + " is no 32-bit RISC-V ELF file";
    for (unsigned i = 0; i < header.e_phnum; i++) {
        const uint64_t at = header.e_phoff + uint64_t{i} * header.e_phentsize;
        Elf32_Phdr segment;
        if (header.e_phentsize < sizeof segment || at + sizeof segment > bytes.size())
            return path + ": program headers are cut off";
        std::memcpy(&segment, bytes.data() + at, sizeof segment);
        if (segment.p_type != PT_LOAD || segment.p_memsz == 0)
            continue;
        if (segment.p_paddr % 4 != 0)
            return path + ": a segment does not begin at a word";
        if (segment.p_filesz > segment.p_memsz || uint64_t{segment.p_offset} + segment.p_filesz > bytes.size())
            return path + ": a segment is cut off";
        for (uint32_t offset = 0; offset < segment.p_memsz; offset += 4) {
            uint32_t word = 0;
            if (offset < segment.p_filesz)
                std::memcpy(&word, bytes.data() + segment.p_offset + offset,
                            std::min<size_t>(4, segment.p_filesz - offset));
            if (!store(segment.p_paddr + offset, word))
                return path + ": a segment lies outside memory";
        }
    }
    return "";
}

} // namespace elf
