import CFiles
import Dispatch
import Foundation
import Synchronization

/// The tokens that a server knows, in one JSON file that only its owner may read.
///
/// A change replaces the file, durably, so that whoever reads it finds the old list or the new one. The
/// token itself is in no file.
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

  /// What the file holds; nil when there is none.
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
      let above = try Disk.makeFolders(folder)
      for folder in above { try Disk.syncFolder(folder) }
      let lock = try lockFolder()
      defer { withExtendedLifetime(lock) {} }
      var tokens = try load() ?? []
      guard edit(&tokens) else { return }
      try save(tokens)
    } catch let error as TokenFileError {
      throw error
    } catch let error as DiskError {
      throw .disk(error)
    } catch {
      preconditionFailure("only these two are thrown: \(error)")
    }
  }

  fileprivate var folder: String {
    let folder = (path as NSString).deletingLastPathComponent
    return folder.isEmpty ? "." : folder
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
      // Nobody knows which list the disk has. Who is told of a failure tries again, and has to find the list before to
      // change: one that looks changed already would never be synced.
      if let previous { try? replace(by: previous) } else { try? Disk.remove(path) }
      throw error
    }
  }

  private func replace(by bytes: Data) throws {
    let beside = path + ".new"
    // A file that was left over may have another mode.
    try Disk.remove(beside)
    let file = try Disk.write(bytes, to: beside, mode: 0o600)
    try giveToOwnerOfFolder(beside)
    try Disk.syncData(file, beside)
    try Disk.rename(beside, to: path)
  }

  /// What root writes for a server that runs as somebody else has to be readable there.
  private func giveToOwnerOfFolder(_ file: String) throws {
    let files = FileManager.default
    let owner = try files.attributesOfItem(atPath: folder)[.ownerAccountID] as? NSNumber
    let maker = try files.attributesOfItem(atPath: file)[.ownerAccountID] as? NSNumber
    guard let owner, maker == 0, owner != 0 else { return }
    try files.setAttributes([.ownerAccountID: owner], ofItemAtPath: file)
  }
}

// MARK: - Watching

/// Reads a file of tokens anew whenever it changes, as long as this object lives.
///
/// A file that is not there, empty or malformed may be one that is being written just now: only what a second look finds
/// too is told.
public final class TokenFileWatch: Sendable {
  private let file: TokenFile
  private let changed: @Sendable (Result<[TokenRecord]?, TokenFileError>) -> Void
  private let queue = DispatchQueue(label: "timersync.tokens")
  private let watcher = Mutex<FolderWatcher?>(nil)
  private let last = Mutex<Result<[TokenRecord]?, TokenFileError>?>(nil)

  /// Who replaces a file in two steps has done so by then.
  private static let secondLook = DispatchTimeInterval.milliseconds(500)
  private static let returnPause = DispatchTimeInterval.seconds(1)

  /// `changed` is called on a thread of its own when the file holds something else than the last time.
  public init(
    _ file: TokenFile,
    changed: @escaping @Sendable (Result<[TokenRecord]?, TokenFileError>) -> Void
  ) throws(DiskError) {
    self.file = file
    self.changed = changed
    try watch()
  }

  private func watch() throws(DiskError) {
    // Any name: a file may also change by a link in its folder.
    let watcher = try FolderWatcher(file.folder, queue: queue) { [weak self] _ in
      self?.look(isSecondLook: false)
    } gone: { [weak self] in
      self?.look(isSecondLook: false)
      self?.watchAgain()
    }
    self.watcher.withLock { $0 = watcher }
  }

  /// The folder is not where it was; there may be another one by now, or a little later.
  private func watchAgain() {
    do {
      try watch()
      look(isSecondLook: false)
    } catch {
      queue.asyncAfter(deadline: .now() + Self.returnPause) { [weak self] in self?.watchAgain() }
    }
  }

  /// Hands on what the file holds, changed or not, on the thread of `changed`; returns at once.
  public func read(_ then: @escaping @Sendable (Result<[TokenRecord]?, TokenFileError>) -> Void) {
    queue.async { [file] in then(Self.read(file)) }
  }

  private static func read(_ file: TokenFile) -> Result<[TokenRecord]?, TokenFileError> {
    Result { () throws(TokenFileError) in try file.load() }
  }

  private func look(isSecondLook: Bool) {
    let now = Self.read(file)
    if !isSecondLook, (try? now.get()) == nil {
      queue.asyncAfter(deadline: .now() + Self.secondLook) { [weak self] in
        self?.look(isSecondLook: true)
      }
      return
    }
    let isNew = last.withLock { last in
      defer { last = now }
      return last != now
    }
    if isNew { changed(now) }
  }
}
