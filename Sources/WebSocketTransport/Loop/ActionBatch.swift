/// The actions that wait for a worker loop, in order.
///
/// Beyond `toleratedBytes` the batch keeps only the newest of the frames that replace each other. Below that it keeps
/// all of them, so that fast readers miss nothing while the loop is briefly busy.
struct ActionBatch: Sendable {
  private var entries: [TransportAction?] = []
  private var slots: [FrameKey: Int] = [:]
  private var droppedCount = 0
  private let toleratedBytes: Int
  /// About how many bytes lie here.
  private(set) var byteCount = 0
  /// True if the worker has to reload the certificate.
  var reloadsCertificate = false
  /// True if the worker has to end at once.
  var finishes = false

  init(toleratedBytes: Int = 1_048_576) { self.toleratedBytes = toleratedBytes }

  /// Where a frame lies that a newer one may replace.
  private struct FrameKey: Hashable {
    let group: GroupID
    let key: UInt64
  }

  var isEmpty: Bool { entries.isEmpty && !reloadsCertificate && !finishes }

  /// The number of entries, including the gaps that dropped frames leave.
  var slotCount: Int { entries.count }

  var actions: [TransportAction] { entries.compactMap { $0 } }

  mutating func append(_ action: TransportAction) {
    switch action {
    case .broadcast(let frame, let group):
      guard let key = frame.replacementKey else { break }
      let older = slots.updateValue(entries.count, forKey: FrameKey(group: group, key: key))
      if let older, byteCount > toleratedBytes { drop(older) }
    // A connection that leaves or closes still gets earlier frames, so none of them may be replaced from here on.
    case .leave, .close: slots.removeAll(keepingCapacity: true)
    default: break
    }
    byteCount += Self.byteCount(of: action)
    entries.append(action)
    if droppedCount > 1_024, droppedCount * 2 > entries.count { compact() }
  }

  private mutating func drop(_ index: Int) {
    guard let action = entries[index] else { return }
    byteCount -= Self.byteCount(of: action)
    entries[index] = nil
    droppedCount += 1
  }

  private mutating func compact() {
    var kept: [TransportAction?] = []
    var moved: [Int: Int] = [:]
    for (index, entry) in entries.enumerated() where entry != nil {
      moved[index] = kept.count
      kept.append(entry)
    }
    slots = slots.compactMapValues { moved[$0] }
    entries = kept
    droppedCount = 0
  }

  private static func byteCount(of action: TransportAction) -> Int {
    switch action {
    case .send(let frame, _), .broadcast(let frame, _): 64 + frame.byteCount
    case .respond(let response, _): 64 + response.body.count
    case .join, .leave, .close, .pauseReading, .resumeReading, .setDeadline, .stop: 64
    }
  }
}
