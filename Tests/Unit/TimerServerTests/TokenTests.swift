import Foundation
import Testing
import TimerCore

@testable import TimerServer
@testable import TimerStorage

private func id(_ name: String) throws -> TimerID { try #require(TimerID(name)) }

@Suite struct `A token's digest` {
  @Test func `is SHA-256`() throws {
    // FIPS 180-4's example.
    let digest = try #require(TokenDigest(of: "abc"))

    #expect(
      digest.hexadecimal == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }

  @Test func `is read as it was written, in either case`() throws {
    let digest = try #require(TokenDigest(of: "secret"))

    #expect(TokenDigest(hexadecimal: digest.hexadecimal) == digest)
    #expect(TokenDigest(hexadecimal: digest.hexadecimal.uppercased()) == digest)
    #expect(TokenDigest(of: "secreu") != digest)
  }

  @Test(arguments: [
    "", "ab", String(repeating: "g", count: 64), String(repeating: "a", count: 63),
    String(repeating: "a", count: 65), "+" + String(repeating: "a", count: 63),
  ])
  func `is nothing else`(_ text: String) {
    #expect(TokenDigest(hexadecimal: text) == nil)
  }

  @Test(arguments: ["", "a b", "a\0b", "é", "a\n", String(repeating: "a", count: 513)])
  func `is of nothing that no token could be`(_ secret: String) {
    #expect(TokenDigest(of: secret) == nil)
  }
}

@Suite struct `A list of timers` {
  @Test(arguments: [
    ("tea", "tea"), ("kitchen*", "kitchen"), ("kitchen*", "kitchen 2"), ("a**", "a*b"), ("*", "x"),
    ("é*", "é1"), ("a/", "a/"),
  ])
  func `holds`(_ pattern: String, _ name: String) throws {
    let pattern = try #require(TimerPattern(pattern))

    #expect(pattern.matches(try id(name)))
  }

  @Test(arguments: [
    ("tea", "Tea"), ("tea", "tea2"), ("kitchen*", "kitche"), ("a*b", "axb"), ("tea", "te"),
    ("\u{e9}", "e\u{301}"), ("e\u{301}*", "\u{e9}1"),
  ])
  func `does not hold`(_ pattern: String, _ name: String) throws {
    let pattern = try #require(TimerPattern(pattern))

    #expect(!pattern.matches(try id(name)))
  }

  @Test(arguments: ["", "a\nb", "a\u{2028}*", String(repeating: "a", count: 129)])
  func `has no such entry`(_ pattern: String) {
    #expect(TimerPattern(pattern) == nil)
  }

  @Test func `may be empty, and holds nothing then`() throws {
    #expect(!TimerScope.matching([]).contains(try id("tea")))
  }
}

@Suite struct `An entry of the file of tokens` {
  private let digest = String(repeating: "0a", count: 32)

  @Test func `is a token`() throws {
    let end = Date(timeIntervalSince1970: 1_764_480_060)
    let record = TokenRecord(
      name: "stage", role: "control", timers: ["tea", "kitchen*"], expires: end, sha256: digest)

    let token = try Token(record)

    #expect(token.name == "stage")
    #expect(token.role == .control)
    #expect(token.scope.contains(try id("kitchen 2")))
    #expect(!token.scope.contains(try id("stage")))
    #expect(token.end == 1_764_480_060)
    #expect(token.digest.hexadecimal == digest)
  }

  @Test func `is for all timers with a star alone`() throws {
    #expect(
      try Token(TokenRecord(name: "a", role: "view", timers: ["tea", "*"], sha256: digest)).scope
        == .all)
    #expect(try Token(TokenRecord(name: "a", role: "view", sha256: digest)).scope == .all)
  }

  @Test(arguments: [
    ("", "view", ["tea"]), ("a\nb", "view", ["tea"]), ("\u{202e}a", "view", ["tea"]),
    (String(repeating: "a", count: 65), "view", ["tea"]), ("a", "none", ["tea"]),
    ("a", "admin", ["tea"]), ("a", "View", ["tea"]), ("a", "view", [""]), ("a", "view", ["a\0"]),
  ])
  func `is refused when it makes no sense`(_ name: String, _ role: String, _ timers: [String]) {
    let record = TokenRecord(name: name, role: role, timers: timers, sha256: digest)

    #expect(throws: TokenFault.self) { try Token(record) }
  }

  @Test func `is refused without a digest`() {
    let record = TokenRecord(name: "a", role: "view", sha256: "secret")

    #expect(throws: TokenFault.self) { try Token(record) }
  }

  @Test func `has a name of its own`() {
    let record = TokenRecord(name: "a", role: "view", sha256: digest)

    #expect(throws: TokenFault.self) { try TokenTable([record, record]) }
  }
}

@Suite struct `A token table` {
  @Test func `finds a token by its digest until it ends`() throws {
    let token = Token.make("guest", until: 1_000)
    let book = TokenTable([.make("wall"), token])
    let digest = try #require(TokenDigest(of: Token.secret("guest")))

    #expect(book.token(digest, at: 999.9) == token)
    #expect(book.token(digest, at: 1_000) == nil)
    let guess = try #require(TokenDigest(of: "guess"))
    #expect(book.token(guess, at: 0) == nil)
  }

  @Test func `knows the next end`() {
    let book = TokenTable([.make("a", until: 30), .make("b", until: 10), .make("c")])

    #expect(book.nextEnd(after: 0) == 10)
    #expect(book.nextEnd(after: 10) == 30)
    #expect(book.nextEnd(after: 30) == nil)
  }
}
