import TimerCore
import TimerProtocol
import TimerStorage

/// A named change: its idempotency key, and the fingerprint of what it asks for.
struct IdempotentRequest: Equatable {
  let key: ScopedIdempotencyKey
  let fingerprint: RequestFingerprint
  /// The network of a visitor without a token; nil with a token.
  let network: String?

  /// The record for the disk, once the change has made this revision.
  func record(revision: Int, at now: Instant) -> IdempotencyRecord {
    IdempotencyRecord(
      requestId: key.key.text, revision: revision, at: now, fingerprint: fingerprint.value,
      principal: key.principal?.text, network: network)
  }
}

extension ClientRequest {
  /// nil for a request without a name.
  var idempotencyKey: IdempotencyKey? {
    switch self {
    case .change(_, _, let key), .finishAll(_, let key): key
    default: nil
    }
  }
}
