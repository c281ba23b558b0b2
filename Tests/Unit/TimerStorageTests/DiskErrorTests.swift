import Foundation
import Testing

@testable import TimerStorage

@Suite struct `An error of the disk` {
  @Test(arguments: [
    (CocoaError.Code.fileReadNoPermission, EACCES), (.fileWriteVolumeReadOnly, EROFS),
    (.fileWriteOutOfSpace, ENOSPC), (.fileReadNoSuchFile, ENOENT), (.featureUnsupported, EIO),
  ])
  func `is what Foundation made of it, read backwards`(_ code: CocoaError.Code, _ errno: Int32) {
    #expect(DiskError("read", "/a", thrown: CocoaError(code)).code == errno)
  }

  @Test func `is what lies beneath`() {
    let inner = POSIXError(.EACCES)
    let outer = CocoaError(.fileReadUnknown, userInfo: [NSUnderlyingErrorKey: inner])

    #expect(DiskError("read", "/a", thrown: inner).code == EACCES)
    #expect(DiskError("read", "/a", thrown: outer).code == EACCES)
    #expect(DiskError("read", "/a", thrown: inner).description == "read /a: Permission denied")
  }
}

@Suite struct `A file of tokens behind links` {
  private let folder = TemporaryFolder()

  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: folder.path(name), withDestinationPath: target)
  }

  private func add(_ name: String, to file: TokenFile) throws {
    try file.change { tokens in
      tokens.append(TokenRecord(name: name, role: "view", sha256: "0"))
      return true
    }
  }

  @Test func `is changed where it is, and the links stay`() throws {
    try folder.makeFolder("far")
    try link("near", to: "middle")
    try link("middle", to: folder.path("far/tokens"))

    try add("a", to: TokenFile(path: folder.path("near")))
    try add("b", to: TokenFile(path: folder.path("near")))

    #expect(try TokenFile(path: folder.path("far/tokens")).load()?.map(\.name) == ["a", "b"])
    #expect(folder.names == ["far", "middle", "near"])
  }

  @Test func `is no ring`() throws {
    try link("a", to: "b")
    try link("b", to: "a")

    #expect(throws: TokenFileError.self) { try add("x", to: TokenFile(path: folder.path("a"))) }
  }

  @Test func `tells one state from another, whichever of them is swapped`() throws {
    for name in ["one", "two"] {
      try folder.makeFolder(name)
      try folder.write("{}", to: name + "/tokens")
    }
    try link("now", to: "one")
    let before = FileState(folder.path("now/tokens"))
    #expect(before == FileState(folder.path("now/tokens")))

    try folder.remove("now")
    #expect(before != FileState(folder.path("now/tokens")))
    try link("now", to: "two")

    #expect(before != FileState(folder.path("now/tokens")))
    #expect(before == FileState(folder.path("one/tokens")))
  }

  @Test(arguments: [(0.0, true), (2.5, true), (4, false), (-60, true)])
  func `may have changed within one tick of its clock`(age: Double, isFresh: Bool) throws {
    try folder.write("{}", to: "tokens")

    let state = FileState(folder.path("tokens"), at: Date() + age)

    #expect(state.isFresh == isFresh)
  }

  @Test func `is not known to be gone while a link to it leads nowhere`() throws {
    try link("near", to: "far/tokens")
    let file = TokenFile(path: folder.path("near"))

    #expect(try file.load() == nil)
    #expect(throws: TokenFileError.self) { try file.reload() }
  }

  @Test func `is not known to be gone while its folder is`() throws {
    let file = TokenFile(path: folder.path("away/tokens"))

    #expect(throws: TokenFileError.self) { try file.reload() }
    try folder.makeFolder("away")
    #expect(try file.reload() == nil)
  }

  @Test func `is not made with its folder for a change that changes nothing`() throws {
    try TokenFile(path: folder.path("above/data/tokens")).change { _ in false }

    #expect(folder.names == [])
  }
}
