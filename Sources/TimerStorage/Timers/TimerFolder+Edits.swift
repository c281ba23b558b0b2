import Foundation
import TimerCore

/// Changes by others.
extension TimerFolder {
  /// Returns the changes that others made to these files, or to any; our own are left out.
  ///
  /// A missing or invalid file may be one that is being written: it is doubtful at first, and counts as removed or
  /// damaged only when a recheck confirms it.
  mutating func changesByOthers(
    _ fileNames: [FileName]?, isRecheck: Bool = false
  ) -> (changes: [ExternalChange], doubtful: [FileName]) {
    var changes: [ExternalChange] = []
    var doubtful: [FileName] = []
    let names = fileNames ?? namesNeedingReading
    for name in names.sorted() where name.isValue && needsReading(name) {
      let change = change(of: name, isRecheck: isRecheck)
      if let change, !change.isCertain, !isRecheck {
        doubtful.append(name)
      } else if let change {
        changes.append(change)
      }
    }
    return (changes, doubtful)
  }

  /// Returns whether there is a file on the disk now.
  func hasFile(_ fileName: FileName) -> Bool { folder.hasFile(fileName) }

  /// Files that could not be read, and may be by now.
  var unreadable: [FileName] {
    blocked.filter { if case .unreadable = $0.value { true } else { false } }.map(\.key)
  }

  /// The names of all files that others changed, or that were protected and are gone.
  private var namesNeedingReading: [FileName] {
    let changed = (try? folder.namesChangedByOthers()) ?? []
    return Array(Set(changed).union(folder.namesProtectedAndGone))
  }

  private func needsReading(_ fileName: FileName) -> Bool {
    if case .unreadable = blocked[fileName] { return true }
    if folder.isProtected(fileName), !folder.hasFile(fileName) { return true }
    return folder.isChangedByOthers(fileName)
  }

  private mutating func change(of fileName: FileName, isRecheck: Bool) -> ExternalChange? {
    guard folder.hasFile(fileName) else { return absence(of: fileName, isRecheck: isRecheck) }
    // To touch a file is no edit: it may be behind the log, and would take back what was answered.
    if blocked[fileName] == nil, folder.acceptIfOnlyTouched(fileName) { return nil }
    do {
      let record = try record(inFile: fileName)
      forgetMistyped(fileName)
      unblock(fileName)
      return .edited(record)
    } catch {
      guard isRecheck else {
        folder.forget(fileName)
        return .damaged(FileFault(fileName: fileName, fault: error))
      }
      let isNews = blocked[fileName] != error
      if error.isDamage { keepMistyped(fileName, error) } else { block(fileName, error) }
      return isNews ? .damaged(FileFault(fileName: fileName, fault: error)) : nil
    }
  }

  private mutating func absence(of fileName: FileName, isRecheck: Bool) -> ExternalChange? {
    guard let id = fileName.key.flatMap(TimerID.init) else {
      folder.forget(fileName)
      return nil
    }
    guard isRecheck else { return .removed(id) }
    folder.forget(fileName)
    forgetMistyped(fileName)
    guard blocked[fileName] != nil else { return .removed(id) }
    // The removed file was not the timer's own, which is written again.
    unblock(fileName)
    if let kept = lastRecords[id] { folder.put(FileChange(fileName, kept.record.contents())) }
    return lastRecords[id] == nil ? .removed(id) : .released(id)
  }

  /// From here on the file is left as it is, unless its fault is damage.
  mutating func block(_ fileName: FileName, _ fault: RecordFault) {
    guard !fault.isDamage else { return unblock(fileName) }
    blocked[fileName] = fault
    guard start == nil, let contents = contentsInMemory(fileName), !folder.isPendingWrite(fileName)
    else { return folder.protect(fileName) }
    keepInLog(fileName, contents)
  }

  private mutating func unblock(_ fileName: FileName) {
    guard blocked.removeValue(forKey: fileName) != nil else { return }
    folder.unprotect(fileName)
  }

  /// Keeps an invalid edit, so that its author can correct it in place; the timer is in the log meanwhile.
  private mutating func keepMistyped(_ fileName: FileName, _ fault: RecordFault) {
    let isProtected = folder.isProtected(fileName)
    blocked[fileName] = nil
    invalidEdits[fileName] = fault
    folder.keepWhenReplaced(fileName)
    guard let contents = contentsInMemory(fileName) else { return folder.unprotect(fileName) }
    // A pending change of the timer replaces the edit.
    if isProtected || !folder.isPendingWrite(fileName) { keepInLog(fileName, contents) }
  }

  /// The file is as it should be again, or gone.
  private mutating func forgetMistyped(_ fileName: FileName) {
    invalidEdits[fileName] = nil
    folder.stopKeeping(fileName)
  }

  private func contentsInMemory(_ fileName: FileName) -> Data? {
    fileName.key.flatMap(TimerID.init).flatMap { lastRecords[$0]?.record.contents() }
  }

  /// Keeps the contents of a file that is about to lose them in the log. If the log accepts nothing now, it gets them
  /// as soon as possible.
  private mutating func keepInLog(_ fileName: FileName, _ contents: Data) {
    folder.protect(fileName, keeping: contents)
    guard start == nil else { return }
    try? commit([FolderStep([FileChange(fileName, contents)])])
  }
}

extension ExternalChange {
  /// True if a recheck is not needed.
  fileprivate var isCertain: Bool {
    switch self {
    case .edited, .released: true
    case .removed, .damaged: false
    }
  }
}

/// A fault in a data folder: the place is a file's name.
public typealias FileFault = StoreFault

extension StoreFault {
  public init(fileName: FileName, fault: RecordFault, movedTo: String? = nil) {
    self.init(
      place: fileName.text, timer: fileName.key.flatMap(TimerID.init), fault: fault,
      movedTo: movedTo)
  }

  public var fileName: FileName { FileName(place) }
}
