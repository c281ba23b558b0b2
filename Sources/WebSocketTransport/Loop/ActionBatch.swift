/// What a further loop is to do and has not taken yet, in order.
///
/// Beyond `toleratedBytes` it keeps the newest frame only of those that replace each other. Below, who reads
/// fast enough is to get all of them, though the loop was busy for a moment.
struct ActionBatch: Sendable {
  private var entries: [TransportAction?] = []
  private var slots: [FrameKey: Int] = [:]
  private var droppedCount = 0
  private let toleratedBytes: Int
  /// About how many bytes lie here.
  private(set) var byteCount = 0
  /// Whether the certificate is to be read anew.
  var reloadsCertificate = false
  /// Whether the loop is to end at once.
  var finishes = false

  init(toleratedBytes: Int = 1_048_576) { self.toleratedBytes = toleratedBytes }

  /// Where a frame lies that a newer one may replace.
  private struct FrameKey: Hashable {
    let group: GroupID
    let key: UInt64
  }

  var isEmpty: Bool { entries.isEmpty && !reloadsCertificate && !finishes }

  /// Room that is taken up, gaps included.
  var slotCount: Int { entries.count }

  var actions: [TransportAction] { entries.compactMap { $0 } }

  mutating func append(_ action: TransportAction) {
    switch action {
    case .broadcast(let frame, let group):
      guard let key = frame.replacementKey else { break }
      let older = slots.updateValue(entries.count, forKey: FrameKey(group: group, key: key))
      if let older, byteCount > toleratedBytes { drop(older) }
    // Who goes still gets what was sent before, so nothing before this is replaced from now on.
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
