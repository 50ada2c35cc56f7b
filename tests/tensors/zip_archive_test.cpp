#include "tensors/zip_archive.h"

#include "base/files.h"
#include "base/memory.h"
#include "base/temporary_folder.h"
#include "tensors/messages.h"
#include "tensors/zip_bytes.h"
#include "tensors/zip_writer.h"

namespace undertext {
namespace {

std::string content_of(const std::string& bytes, const std::string& name) {
  const ZipArchive archive(keep_bytes(bytes), "x");
  const ZipEntry* entry = archive.find(name);
  return entry == nullptr ? "none" : std::string(archive.content(*entry).view());
}

TEST(ZipArchive, StoredAndDeflatedEntries) {
  const std::string long_text(10'000, 'a');
  const std::string bytes = zip_bytes({{.name = "folder/"},
                                       {.name = "folder/a", .content = "hello"},
                                       {.name = "b", .content = long_text, .deflate = true},
                                       {.name = "empty"},
                                       {.name = "nothing", .deflate = true}});
  EXPECT_EQ(content_of(bytes, "folder/a"), "hello");
  EXPECT_EQ(content_of(bytes, "b"), long_text);
  EXPECT_EQ(content_of(bytes, "empty"), "");
  EXPECT_EQ(content_of(bytes, "nothing"), "");
  EXPECT_EQ(content_of(bytes, "c"), "none");
  const ZipArchive archive(keep_bytes(bytes), "x");
  ASSERT_EQ(archive.entries().size(), 4u);  // folders are none
  EXPECT_EQ(archive.entries()[1].name, "b");
  EXPECT_EQ(archive.beginning(archive.entries()[1], 7).view(), "aaaaaaa");
  EXPECT_EQ(archive.beginning(archive.entries()[0], 100).view(), "hello");
}

TEST(ZipArchive, StoredEntriesAreNotCopied) {
  const SharedBytes bytes = keep_bytes(zip_bytes({{.name = "a", .content = "hello"}}));
  const ZipArchive archive(bytes, "x");
  const SharedBytes content = archive.content(archive.entries()[0]);
  EXPECT_GE(content.data, bytes.data);
  EXPECT_LT(content.data, bytes.data + bytes.size);
}

TEST(ZipArchive, CommentsAndSizesAfterTheData) {
  EXPECT_EQ(content_of(zip_bytes({{.name = "a", .content = "x"}}, {.comment = "PK\5\6 is no end"}), "a"),
            "x");
  // With flag 8 the entry's own header may leave sizes to what follows the data.
  EXPECT_EQ(content_of(zip_bytes({{.name = "a", .content = "x", .flags = 8}}), "a"), "x");
}

TEST(ZipArchive, WritesWhatItReads) {
  const TemporaryFolder folder;
  const std::vector<ZipPiece> pieces = {{"a", "hello", {}}, {"b/c", "numbers", at::arange(5)}, {"d", "", {}}};
  for (const std::uint64_t zip64_from : {std::uint64_t{0xFFFFFFFF}, std::uint64_t{0}, std::uint64_t{2}}) {
    write_zip(folder / "x", pieces, zip64_from);
    const ZipArchive archive(map_file(folder / "x"), "x");
    ASSERT_EQ(archive.entries().size(), 3u);
    EXPECT_EQ(archive.content(archive.entries()[0]).view(), "hello");
    EXPECT_EQ(archive.content(archive.entries()[1]).size, 7u + 40);
    EXPECT_EQ(archive.content(archive.entries()[2]).view(), "");
    for (const ZipEntry& entry : archive.entries()) EXPECT_EQ(entry.begin % 64, 0u) << entry.name;
  }
  const std::string once = read_file(folder / "x");
  write_zip(folder / "x", pieces, 2);
  EXPECT_EQ(read_file(folder / "x"), once);
}

std::vector<LyingFile> lies() {
  const ZipPart good{.name = "a", .content = "hello"};
  const auto one = [&](const auto& change) {
    ZipPart part = good;
    change(part);
    return zip_bytes({part});
  };
  const std::string zip64_locator =
      "PK\6\7" + little_endian(0, 4) + little_endian(0, 8) + little_endian(1, 4);
  return {
      {"only_a_beginning", "PK\3\4", "without its end"},
      {"no_end", zip_bytes({good}).substr(0, 60), "without its end"},
      {"bytes_after_the_end", zip_bytes({good}, {.after = "x"}), "without its end"},
      {"name_twice", zip_bytes({good, good}), "\"a\" twice"},
      {"encrypted", one([](ZipPart& p) { p.flags = 1; }), "is encrypted"},
      {"strongly_encrypted", one([](ZipPart& p) { p.flags = 0x41; }), "is encrypted"},
      {"masked_directory", one([](ZipPart& p) { p.flags = 1 << 13; }), "is encrypted"},
      {"method_lzma", one([](ZipPart& p) { p.method = 14; }), "method 14"},
      {"method_zstd", one([](ZipPart& p) { p.method = 93; }), "method 93"},
      {"name_empty", one([](ZipPart& p) { p.name = ""; }), "named \"\": refused"},
      {"name_absolute", one([](ZipPart& p) { p.name = "/etc/passwd"; }), "refused"},
      {"name_climbs", one([](ZipPart& p) { p.name = "a/../../b"; }), "refused"},
      {"name_climbs_at_once", one([](ZipPart& p) { p.name = ".."; }), "refused"},
      {"name_climbs_at_the_end", one([](ZipPart& p) { p.name = "a/.."; }), "refused"},
      {"name_of_windows", one([](ZipPart& p) { p.name = "..\\b"; }), "refused"},
      {"name_with_zero", one([](ZipPart& p) { p.name = std::string("a\0b", 3); }), "refused"},
      {"name_with_newline", one([](ZipPart& p) { p.name = "a\nb"; }), "refused"},
      {"other_name_inside", one([](ZipPart& p) { p.local_name = "b"; }),
       "does not say what the directory says"},
      {"header_beyond_the_file", one([](ZipPart& p) { p.header = 5000; }), "begins at byte 5000"},
      {"header_in_the_directory", one([](ZipPart& p) { p.header = 30; }), "begins at byte 30"},
      {"header_elsewhere", one([](ZipPart& p) { p.header = 1; }), "does not say"},
      {"packed_beyond_the_file", one([](ZipPart& p) { p.packed = p.size = 5000; }), "claims 5000 bytes"},
      {"packed_over_32_bits", one([](ZipPart& p) { p.packed = p.size = 0xFFFFFFFF; }),
       "claims 4294967295 bytes"},
      {"wide_numbers_missing", one([](ZipPart& p) {
         p.packed = p.size = 0xFFFFFFFF;
         p.extra = little_endian(1, 2) + little_endian(4, 2) + "1234";
       }),
       "claims 4294967295 bytes"},
      {"wide_numbers_huge", one([](ZipPart& p) {
         p.packed = p.size = 0xFFFFFFFF;
         p.extra = little_endian(1, 2) + little_endian(16, 2) + std::string(16, '\xff');
       }),
       "claims 18446744073709551615 bytes"},
      {"stored_with_other_size", one([](ZipPart& p) { p.size = 4; }), "stored in 5 bytes, but claims 4"},
      {"overlap",
       zip_bytes({{.name = "a", .content = std::string(100, 'x'), .header = 0},
                  {.name = "a", .content = std::string(100, 'x'), .header = 0}}),
       "overlaps"},
      {"entry_inside_another",
       [] {
         const std::string inner = zip_bytes({{.name = "b", .content = "inner"}});
         return zip_bytes({{.name = "a", .content = inner}, {.name = "b", .content = "inner", .header = 31}});
       }(),
       "overlaps"},
      {"on_another_disk", one([](ZipPart& p) { p.disk = 1; }), "several parts"},
      {"end_on_another_disk", zip_bytes({good}, {.disk = 1}), "several parts"},
      {"too_many_entries", zip_bytes({good}, {.entries = 2}), "no header in entry 1"},
      {"too_few_entries", zip_bytes({good, {.name = "b"}}, {.entries = 1}), "belong to no entry"},
      {"directory_elsewhere", zip_bytes({good}, {.begin = 3}), "not where its end record says"},
      {"directory_too_long", zip_bytes({good}, {.size = 0xFFFFFFF0}), "not where its end record says"},
      {"bytes_after_the_directory", zip_bytes({good}, {.after_directory = "x"}),
       "not where its end record says"},
      {"zip64_without_record", zip_bytes({good}, {.after_directory = zip64_locator}),
       "zip64 record is not where"},
      {"directory_is_no_directory",
       [&] {
         std::string bytes = zip_bytes({good});
         bytes[bytes.find("PK\1\2") + 2] = 'x';
         return bytes;
       }(),
       "no header in entry 0"},
      {"deflated_lie", zip_bytes({{.name = "a", .content = "hello", .deflate = true, .size = 1'000'000}}),
       "which nothing compresses to"},
      {"bomb",
       zip_bytes({{.name = "a", .content = std::string(5'000'000, 'x'), .deflate = true, .size = 0xFFFFFFF0},
                  {.name = "b", .content = std::string(5'000'000, 'x'), .deflate = true}}),
       "which nothing compresses to"},
  };
}

class HostileZip : public ::testing::TestWithParam<LyingFile> {};

INSTANTIATE_TEST_SUITE_P(Lies, HostileZip, ::testing::ValuesIn(lies()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(HostileZip, GetsOneClearLine) {
  expect_one_clear_line(message_of([&] { ZipArchive(keep_bytes(GetParam().bytes), "file.npz"); }), "file.npz",
                        GetParam().expected);
}

TEST(HostileZip, DamageInsideCompressedEntriesIsFound) {
  const std::string text = "some text that is compressed, some text that is compressed";
  const auto expect = [&](const ZipPart& part, const char* expected) {
    const std::string bytes = zip_bytes({part});
    expect_one_clear_line(message_of([&] { content_of(bytes, "a"); }), "x", expected);
  };
  expect({.name = "a", .content = text, .deflate = true, .crc = 5}, "checksum");
  expect({.name = "a", .content = text, .deflate = true, .size = 57}, "damaged");
  expect({.name = "a", .content = text, .deflate = true, .size = 59}, "damaged");
  expect({.name = "a", .content = "no deflate", .method = 8}, "damaged");
  expect({.name = "a", .content = deflated(text) + "x", .method = 8, .size = 58}, "damaged");
  const std::string cut = deflated(text).substr(0, 20);
  expect({.name = "a", .content = cut, .method = 8, .size = 58}, "damaged");
}

// Many entries, each of which compresses as well as deflate can: 2 GB in 2 MB.
TEST(HostileZip, ABombIsRefusedBeforeItGoesOff) {
  const std::string zeros(1 << 20, '\0');
  const std::string packed = deflated(zeros);
  std::vector<ZipPart> parts;
  for (int i = 0; i < 2000; ++i) {
    parts.push_back({.name = std::to_string(i), .content = packed, .method = 8, .size = 1 << 20});
  }
  const std::string bytes = zip_bytes(parts);
  reset_peak_memory();
  const std::int64_t before = peak_memory();
  expect_one_clear_line(message_of([&] { ZipArchive(keep_bytes(bytes), "x"); }), "x", "unfolds from");
  EXPECT_LT(peak_memory() - before, 64 << 20);
}

}  // namespace
}  // namespace undertext
