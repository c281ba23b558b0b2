import Testing

@testable import SharedAlgorithms

@Suite struct `FNV-1a` {
  // From the test vectors of draft-eastlake-fnv, appendix C.
  @Test(
    arguments: [
      ("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("b", 0xaf63_df4c_8601_f1a5),
      ("foobar", 0x8594_4171_f739_67e8),
    ] as [(String, UInt64)])
  func `gives the published value`(text: String, value: UInt64) {
    #expect(FNV1a(text.utf8).value == value)
  }

  @Test func `is the same in pieces`() {
    var hash = FNV1a("fo".utf8)

    hash.combine(UInt8(ascii: "o"))
    hash.combine("bar".utf8)

    #expect(hash.value == FNV1a("foobar".utf8).value)
  }
}
