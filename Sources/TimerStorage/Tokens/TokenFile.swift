import CFiles
import Dispatch
import Foundation
import Synchronization

/// The server's tokens, in one JSON file that only its owner may read.
///
/// A change replaces the file durably, so that readers get either the old list or the new one. The secret itself is in
/// no file.
public struct TokenFile: Sendable {
  public let path: String

  public init(path: String) {
    self.path = path
  }

  /// Where a data folder keeps its tokens: beside its log, where no timer's file is looked for.
  public init(dataFolder: String) {
    self.init(path: dataFolder + "/" + JSONFolder.insideName + "/tokens.json")
  }

  private struct Contents: Codable {
    var version = 1
    var tokens: [TokenRecord]
  }

  private static let bytesMax = 4 << 20

  /// Reads the file; nil when there is none.
  public func load() throws(TokenFileError) -> [TokenRecord]? {
    let bytes: Data
    do { bytes = try Disk.read(path) } catch {
      if error.code == ENOENT { return nil }
      throw .disk(error)
    }
    guard bytes.count <= Self.bytesMax else { throw .malformed("it is too long") }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    do {
      let contents = try decoder.decode(Contents.self, from: bytes)
      guard contents.version == 1 else {
        throw TokenFileError.malformed("version \(contents.version) is not known here")
      }
      return contents.tokens
    } catch let error as TokenFileError {
      throw error
    } catch {
      throw .malformed(Self.words(for: error))
    }
  }

  /// As above, when there were tokens before: while the file's folder is missing, or a link is broken, it is unknown
  /// whether they are gone.
  func reload() throws(TokenFileError) -> [TokenRecord]? {
    if let tokens = try load() { return tokens }
    if Disk.place(folder) == nil { throw .disk(DiskError("open", folder, code: ENOENT)) }
    if Disk.target(ofLink: path) != nil { throw .disk(DiskError("open", path, code: ENOENT)) }
    return nil
  }

  /// Where the JSON is wrong, without what stands there.
  private static func words(for error: any Error) -> String {
    let place: [any CodingKey]
    switch error as? DecodingError {
    case .typeMismatch(_, let context), .valueNotFound(_, let context): place = context.codingPath
    case .keyNotFound(let key, let context): place = context.codingPath + [key]
    case .dataCorrupted(let context): place = context.codingPath
    default: place = []
    }
    guard !place.isEmpty else { return "not the JSON of {\"version\":1,\"tokens\":[…]}" }
    let path = place.map { $0.intValue.map { "entry \($0 + 1)" } ?? $0.stringValue }
    return "\(path.joined(separator: ", ")) is missing or of a wrong type"
  }
}

// MARK: - Changing

extension TokenFile {
  /// Changes the list, while no other process does; nothing is written when `edit` says false.
  public func change(_ edit: (inout [TokenRecord]) -> Bool) throws(TokenFileError) {
    do {
      try resolved().changeInPlace(edit)
    } catch let error as TokenFileError {
      throw error
    } catch let error as DiskError {
      throw .disk(error)
    } catch {
      preconditionFailure("only these two are thrown: \(error)")
    }
  }

  private func changeInPlace(_ edit: (inout [TokenRecord]) -> Bool) throws {
    let missing = Disk.missingFolders(folder)
    if !missing.isEmpty {
      // Where there is no folder there are no tokens, and none is made for a change that changes nothing.
      var none = try load() ?? []
      guard edit(&none) else { return }
    }
    do {
      for folder in try Disk.makeFolders(folder) { try Disk.syncFolder(folder) }
      let lock = try lockFolder()
      defer { withExtendedLifetime(lock) {} }
      var tokens = try load() ?? []
      guard edit(&tokens) else { return }
      try save(tokens)
    } catch {
      Disk.removeEmptyFolders(missing)
      throw error
    }
  }

  fileprivate var folder: String { Disk.parent(of: path) }

  /// The file that is meant where a link lies at the path: a change is made there, and the link stays.
  private func resolved() throws(DiskError) -> TokenFile {
    var place = path
    // As many as the system follows: man 7 path_resolution.
    for _ in 0..<40 {
      guard let target = Disk.target(ofLink: place) else { return TokenFile(path: place) }
      place = target.hasPrefix("/") ? target : Disk.parent(of: place) + "/" + target
    }
    throw DiskError("open", path, code: ELOOP)
  }

  /// The lock is on the folder itself, so that it leaves no file behind.
  private func lockFolder() throws -> FileHandle {
    let handle = try Disk.open(folder, O_RDONLY | O_DIRECTORY)
    for _ in 0..<100 {
      let result = files_try_lock(handle.fileDescriptor)
      if result == 0 { return handle }
      guard result == -EWOULDBLOCK else { throw DiskError("lock", folder, code: -result) }
      Thread.sleep(forTimeInterval: 0.02)
    }
    throw TokenFileError.busy
  }

  private func save(_ tokens: [TokenRecord]) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    let bytes = try encoder.encode(Contents(tokens: tokens))
    let previous = Disk.signature(path) == nil ? nil : try Disk.read(path)
    try replace(by: bytes)
    do { try Disk.syncFolder(folder) } catch {
      // The state on the disk is unknown. A caller that gets an error tries again, and has to find the old list: one
      // that looks changed already would never be synced.
      if let previous { try? replace(by: previous) } else { try? Disk.remove(path) }
      throw error
    }
  }

  private func replace(by bytes: Data) throws {
    let beside = path + ".new"
    // A file that was left over may have another mode.
    try Disk.remove(beside)
    let file = try Disk.write(bytes, to: beside, mode: 0o600)
    try chownToFolderOwner(beside)
    try Disk.syncData(file, beside)
    try Disk.rename(beside, to: path)
  }

  /// A file written by root has to be readable for a server that runs as another user.
  private func chownToFolderOwner(_ file: String) throws {
    let files = FileManager.default
    let owner = try files.attributesOfItem(atPath: folder)[.ownerAccountID] as? NSNumber
    let maker = try files.attributesOfItem(atPath: file)[.ownerAccountID] as? NSNumber
    guard let owner, maker == 0, owner != 0 else { return }
    try files.setAttributes([.ownerAccountID: owner], ofItemAtPath: file)
  }
}

// MARK: - Watching

/// The contents of a token file, or why it can't be read; nil where there is no file.
public typealias TokenFileContents = Result<[TokenRecord]?, TokenFileError>

/// Reads a token file whenever it changes, as long as this object lives.
///
/// The system reports changes in the file's folder. The file is checked twice a second all the same: a link to it, or
/// to a folder above it, may change, and the system may have no watches left.
///
/// A missing, empty or malformed file may be one that is being written, so it is reported only when a second check
/// confirms it. While the file's folder is missing, or a link is broken, existing tokens are not gone: the file can't
/// be read.
public final class TokenFileWatch: Sendable {
  private let file: TokenFile
  private let recheckDelay: DispatchTimeInterval
  private let changed: @Sendable (TokenFileContents) -> Void
  private let queue = DispatchQueue(label: "timersync.tokens")
  private let watcher = Mutex<FolderWatcher?>(nil)
  private let seen = Mutex(Seen())

  private struct Seen {
    /// The contents that were delivered last.
    var delivered: TokenFileContents?
    /// The file that was read last, as it was then.
    var state: FileState?
    /// True if the file has to be read again: it was unreadable, or may have changed within the same tick of its clock.
    var isDoubtful = false
    var doubts = Rechecks<String, TokenFileContents>()
    /// A read that has to be delivered in any case. Of several at once the last replaces the others, since all ask for
    /// the same.
    var pendingRead: (@Sendable (TokenFileContents) -> Void)?

    /// True if there were tokens, which may be lost.
    var hadTokens: Bool {
      switch delivered {
      case nil, .some(.success(nil)): false
      default: true
      }
    }
  }

  /// The time for a program that replaces a file in two steps.
  private static let recheckDelay = DispatchTimeInterval.milliseconds(500)
  private static let pause = DispatchTimeInterval.milliseconds(500)

  /// Delivers to `changed`, on a thread of its own, each time the file's contents change. The file's folder has to
  /// exist.
  public convenience init(
    _ file: TokenFile, changed: @escaping @Sendable (TokenFileContents) -> Void
  ) throws(DiskError) {
    _ = try Disk.openFolder(file.folder)
    self.init(watchingLater: file, changed: changed)
  }

  /// As above; the folder may be made later.
  public convenience init(
    watchingLater file: TokenFile, changed: @escaping @Sendable (TokenFileContents) -> Void
  ) {
    self.init(file, recheckDelay: Self.recheckDelay, changed: changed)
  }

  init(
    _ file: TokenFile, recheckDelay: DispatchTimeInterval,
    changed: @escaping @Sendable (TokenFileContents) -> Void
  ) {
    self.file = file
    self.recheckDelay = recheckDelay
    self.changed = changed
    seen.withLock { $0.state = FileState(file.path) }
    try? watchFolder()
    schedulePoll()
  }

  /// Watches the file's folder. Throws the reason if the system gives no watch: changes are seen a little later then,
  /// and it is asked again.
  public func watchFolder() throws(DiskError) {
    guard watcher.withLock({ $0 == nil }) else { return }
    // Any name: a file may also change by a link in its folder.
    let watcher = try FolderWatcher(file.folder, queue: queue) { [weak self] _ in
      self?.check()
    } gone: { [weak self] in
      // The folder is not where it was; there may be another one by now, or a little later.
      self?.watcher.withLock { $0 = nil }
      try? self?.watchFolder()
      self?.check()
    }
    self.watcher.withLock { $0 = watcher }
  }

  private func schedulePoll() {
    queue.asyncAfter(deadline: .now() + Self.pause) { [weak self] in
      self?.poll()
      self?.schedulePoll()
    }
  }

  private func poll() {
    try? watchFolder()
    let state = FileState(file.path)
    let isNews = seen.withLock { $0.state != state || $0.isDoubtful }
    if isNews { check() }
  }

  /// Reads the file; only later changes are delivered from here on.
  public func load() throws(TokenFileError) -> [TokenRecord]? {
    // On the queue, so that this read and deliveries keep their order.
    let now = queue.sync {
      let now = read()
      seen.withLock { $0.delivered = now }
      return now
    }
    return try now.get()
  }

  /// Delivers the file's contents, changed or not, to `then` on the thread of `changed`; returns at once. Doubtful
  /// contents are delivered after the recheck.
  public func read(_ then: @escaping @Sendable (TokenFileContents) -> Void) {
    queue.async { [self] in
      seen.withLock { $0.pendingRead = then }
      check()
    }
  }

  private func read() -> TokenFileContents {
    let hadTokens = seen.withLock { $0.hadTokens }
    let state = FileState(file.path)
    let contents = Result { () throws(TokenFileError) in
      try hadTokens ? file.reload() : file.load()
    }
    seen.withLock { seen in
      seen.state = state
      seen.isDoubtful = state.isFresh || contents.isOfDisk
    }
    return contents
  }

  private func check() {
    let now = read()
    guard isInDoubt(now) else { return deliver(now) }
    let number = seen.withLock { $0.doubts.schedule(file.path, finding: now) }
    guard let number else { return }
    queue.asyncAfter(deadline: .now() + recheckDelay) { [weak self] in self?.recheck(number) }
  }

  private func isInDoubt(_ now: TokenFileContents) -> Bool {
    (try? now.get()) == nil && seen.withLock { $0.delivered != now }
  }

  private func recheck(_ number: UInt64) {
    guard let before = seen.withLock({ $0.doubts.complete(file.path, number) }) else { return }
    let now = read()
    if now == before { deliver(now) } else { check() }
  }

  /// On the queue.
  private func deliver(_ now: TokenFileContents) {
    let (isNew, pendingRead) = seen.withLock { seen in
      defer { (seen.delivered, seen.pendingRead) = (now, nil) }
      seen.doubts.cancel(file.path)
      return (seen.delivered != now, seen.pendingRead)
    }
    if let pendingRead { pendingRead(now) } else if isNew { changed(now) }
  }
}

extension Result<[TokenRecord]?, TokenFileError> {
  /// True if the disk refused, which may change without a change of the file.
  fileprivate var isOfDisk: Bool {
    if case .failure(.disk) = self { true } else { false }
  }
}
