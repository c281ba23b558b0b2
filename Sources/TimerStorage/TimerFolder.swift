import Foundation
public import TimerCore

/// The data folder of a server: one file a timer, and one for what the server remembers beside them.
public struct TimerFolder {
  private var folder: JSONFolder
  private let lock: FolderLock
  /// What the clocks said at the newest change, or at the start.
  private var clock: ClockReading
  private var register: RequestRegister
  /// What was found to be damaged before any timer was read.
  private var faults: [FileFault]

  /// What was found in the folder.
  public struct Contents: Sendable {
    public var timers: [TimerRecord] = []
    public var server = ServerRecord()
    /// Names what the data went through; new when changes that were answered are lost.
    public var history = ""
    /// The named changes of the last minutes, on the clock of this process.
    public var requests: [RecentRequest] = []
    /// Files that hold no timer.
    public var faults: [FileFault] = []

    /// The same on the clock of `now`: the one place where instants of earlier processes are moved.
    public func moved(to now: ClockReading) -> Contents {
      var moved = self
      moved.timers = timers.map { $0.moved(to: now, by: server.lastClocks) }
      moved.server = server.moved(to: now)
      return moved
    }
  }

  /// Makes the folder where there is none, checks that it can be written to, and owns it from then on;
  /// `clock` is what the clocks say now.
  public init(path: String, clock: ClockReading) throws(FolderError) {
    do { try JSONFolder.prepare(path) } catch { throw .disk(error) }
    lock = try FolderLock(path + "/" + JSONFolder.insideName + "/lock")
    self.clock = clock
    var register = RequestRegister()
    var faults: [FileFault] = []
    do {
      folder = try JSONFolder(path: path) { folder, found in
        Self.restore(&register, from: &folder, found.steps, &faults, on: clock)
        if let damaged = found.damaged {
          let moved = try? folder.quarantine(damaged, as: FileName("log"))
          faults.append(
            FileFault(
              fileName: FileName(JSONFolder.insideName + "/log"),
              fault: .malformed("entries of the log are damaged; the others were kept"),
              movedTo: moved))
        }
        if !register.requests.isEmpty {
          folder.put(FileChange(RequestRegister.fileName, register.contents(on: clock)))
        }
      }
    } catch {
      throw .disk(error)
    }
    self.register = register
    self.faults = faults
  }

  /// What earlier processes knew of named changes: in the file, and since then in the log.
  private static func restore(
    _ register: inout RequestRegister, from folder: inout JSONFolder, _ steps: [FolderStep],
    _ faults: inout [FileFault], on clock: ClockReading
  ) {
    let servers = servers(in: &folder, steps)
    let later = servers.flatMap(\.lastClocks)
    if folder.has(RequestRegister.fileName) {
      do {
        try register.restore(folder.read(RequestRegister.fileName), on: clock, by: later)
      } catch {
        let moved = try? folder.quarantine(RequestRegister.fileName)
        faults.append(
          FileFault(
            fileName: RequestRegister.fileName, fault: .malformed("\(error)"), movedTo: moved))
      }
    }
    for step in steps {
      let server = serverRecord(in: step)
      for change in step.changes {
        guard let id = change.fileName.key.flatMap(TimerID.init) else { continue }
        let record = change.contents.flatMap { try? TimerRecord(contents: $0, id: id) }
        let shift = (record?.clock ?? server?.clock)?.shift(to: clock, by: later) ?? .zero
        if let record {
          register.note(record, shift: shift)
        } else if change.contents == nil, let server {
          register.note(removalOf: id, in: server, shift: shift)
        }
      }
      if let server {
        register.note(
          unchangedIn: server, shift: server.clock?.shift(to: clock, by: later) ?? .zero)
      }
    }
  }

  /// The server's record in its file, and those in the log since, as far as they can be read.
  private static func servers(
    in folder: inout JSONFolder, _ steps: [FolderStep]
  ) -> [ServerRecord] {
    let inFile = try? folder.read(ServerRecord.fileName)
    let first = inFile.flatMap { try? JSONDecoder().decode(ServerRecord.self, from: $0) }
    return ([first] + steps.map(serverRecord)).compactMap(\.self)
  }

  private static func serverRecord(in step: FolderStep) -> ServerRecord? {
    step.changes.first { $0.fileName == ServerRecord.fileName }?.contents
      .flatMap { try? JSONDecoder().decode(ServerRecord.self, from: $0) }
  }

  public var path: String { folder.path }

  /// Reads every timer; a file that holds none is put aside, and costs no other.
  public mutating func load() throws(DiskError) -> Contents {
    var contents = Contents()
    contents.faults = faults
    contents.requests = register.requests
    for fileName in try folder.fileNames() {
      do { contents.timers.append(try record(in: fileName)) } catch {
        contents.faults.append(putAside(fileName, error))
      }
    }
    do { contents.server = try serverRecord() } catch {
      contents.faults.append(putAside(ServerRecord.fileName, error))
      // Nobody knows which revisions were given: go on well above all that are to be seen.
      contents.server.revisionCeiling =
        (contents.timers.map(\.timer.revision).max() ?? 0) + Self.revisionsSkipped
    }
    return contents
  }

  private static let revisionsSkipped = 1_000_000

  private mutating func putAside(_ fileName: FileName, _ fault: RecordFault) -> FileFault {
    FileFault(fileName: fileName, fault: fault, movedTo: try? folder.quarantine(fileName))
  }

  private mutating func serverRecord() throws(RecordFault) -> ServerRecord {
    guard folder.has(ServerRecord.fileName) else { return ServerRecord() }
    let contents: Data
    do { contents = try folder.read(ServerRecord.fileName) } catch { throw .unreadable(error) }
    let record: ServerRecord
    do { record = try JSONDecoder().decode(ServerRecord.self, from: contents) } catch {
      throw .malformed("\(error)")
    }
    guard 0...TimerLimits.revisionMax ~= record.revisionCeiling else {
      throw .contradiction("a revision that is not 0 to \(TimerLimits.revisionMax)")
    }
    return record
  }

  private mutating func record(in fileName: FileName) throws(RecordFault) -> TimerRecord {
    guard let key = fileName.key, let id = TimerID(key) else {
      throw .contradiction("the file's name is no timer's")
    }
    let contents: Data
    do { contents = try folder.read(fileName) } catch { throw .unreadable(error) }
    return try TimerRecord(contents: contents, id: id)
  }

  /// Makes writes durable, all or none; the files follow by `writeFiles`.
  mutating func commit(_ writes: [TimerWrite]) throws(DiskError) {
    guard !writes.isEmpty else { return }
    if let newest = writes.last(where: { $0.clock != nil })?.clock { clock = newest }
    var server = ServerContents()
    try folder.commit(writes.map { $0.step(&server) })
    for write in writes { register.note(write) }
  }

  /// Writes the timers' files as far as they are behind, and tells what the disk refused.
  mutating func writeFiles() -> [DiskError] {
    folder.writeFiles()
  }

  /// Writes these files as far as they are behind.
  mutating func writeFiles(of fileNames: ArraySlice<FileName>) -> [DiskError] {
    folder.writeFiles(of: fileNames)
  }

  var isBehind: Bool { folder.isBehind }
  var fileNamesBehind: [FileName] { folder.fileNamesBehind }

  var isCheckpointDue: Bool { folder.isCheckpointDue }
  var isCheckpointed: Bool { folder.isCheckpointed }

  /// Brings every file up to date, for good, so that the log can begin anew.
  mutating func checkpoint(staysBusy: Bool = false) throws(DiskError) {
    if register.hasNews {
      folder.put(FileChange(RequestRegister.fileName, register.contents(on: clock)))
    }
    try folder.checkpoint(staysBusy: staysBusy)
  }
}

extension TimerFolder {
  /// What others did to these files, or to any of them; what we did ourselves is left out.
  ///
  /// A file that holds no timer may be one that is being written just now: it is doubtful first, and damaged
  /// only at a second look.
  mutating func changesByOthers(
    _ fileNames: [FileName]?, isSecondLook: Bool = false
  ) -> (changes: [ExternalChange], doubtful: [FileName]) {
    var changes: [ExternalChange] = []
    var doubtful: [FileName] = []
    let names = fileNames ?? (try? folder.namesChangedByOthers()) ?? []
    for name in names.sorted() where name.isValue && folder.isChangedByOthers(name) {
      let change = change(of: name)
      if case .damaged = change, !isSecondLook {
        folder.forget(name)
        doubtful.append(name)
      } else if let change {
        changes.append(change)
      }
    }
    return (changes, doubtful)
  }

  private mutating func change(of fileName: FileName) -> ExternalChange? {
    guard folder.has(fileName) else {
      folder.forget(fileName)
      return fileName.key.flatMap(TimerID.init).map { .removed($0) }
    }
    do { return .edited(try record(in: fileName)) } catch {
      return .damaged(FileFault(fileName: fileName, fault: error))
    }
  }
}

/// What somebody else did to a timer's file.
public enum ExternalChange: Sendable {
  case edited(TimerRecord)
  case removed(TimerID)
  /// It was left as it is; the timer stays what it was.
  case damaged(FileFault)
}

/// A file that holds no timer, and why.
public struct FileFault: Hashable, Sendable {
  public let fileName: FileName
  public let fault: RecordFault
  /// Where it was put aside, if it was.
  public var movedTo: String?

  public init(fileName: FileName, fault: RecordFault, movedTo: String? = nil) {
    self.fileName = fileName
    self.fault = fault
    self.movedTo = movedTo
  }

  /// The timer that the file's name tells.
  public var timer: TimerID? {
    fileName.key.flatMap(TimerID.init)
  }
}

/// One change for the disk: all of it or nothing.
public struct TimerWrite: Hashable, Sendable {
  /// Counts the writes of a process.
  public let ticket: UInt64
  /// What the timers' files are to hold; nil: the timer is forgotten.
  public let timers: [TimerID: TimerRecord?]
  /// What the server remembers, where that changes too.
  public let server: ServerRecord?
  /// The tickets of the writes that this one builds on, as far as they were under way.
  public let bases: Set<UInt64>
  /// Reports up to this ticket were heard by the one who asks: nothing builds on failures before it.
  public let reported: UInt64
  /// What the clocks said when it was decided.
  public let clock: ClockReading?

  public init(
    ticket: UInt64, timers: [TimerID: TimerRecord?], server: ServerRecord? = nil,
    bases: Set<UInt64> = [], reported: UInt64 = 0, clock: ClockReading? = nil
  ) {
    self.ticket = ticket
    self.timers = timers
    self.server = server
    self.bases = bases
    self.reported = reported
    self.clock = clock
  }

  fileprivate func step(_ contents: inout ServerContents) -> FolderStep {
    var changes = timers.map { id, record in
      FileChange(Self.fileName(of: id), record?.contents())
    }
    if let server { changes.append(FileChange(ServerRecord.fileName, contents.of(server))) }
    return FolderStep(changes)
  }

  private static func fileName(of id: TimerID) -> FileName {
    guard let fileName = FileName(key: id.name) else {
      preconditionFailure("a timer's name is never longer than a key may be")
    }
    return fileName
  }
}

/// The bytes of a server's record, which many writes of a group carry alike.
private struct ServerContents {
  private var last: (server: ServerRecord, contents: Data)?

  mutating func of(_ server: ServerRecord) -> Data {
    if let last, last.server == server { return last.contents }
    let contents = server.contents()
    last = (server, contents)
    return contents
  }
}

/// What became of a write.
public struct WriteReport: Sendable {
  public let ticket: UInt64
  public let result: Result<Void, DiskError>

  public init(ticket: UInt64, result: Result<Void, DiskError>) {
    self.ticket = ticket
    self.result = result
  }
}
