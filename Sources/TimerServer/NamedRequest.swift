import TimerProtocol

/// A change that its client gave a name to, and what it asks for.
struct NamedRequest: Equatable {
  let key: RequestKey
  let fingerprint: RequestFingerprint
}

extension ClientRequest {
  /// nil for a request without a name.
  var named: NamedRequest? {
    switch self {
    case .change(_, _, let key?), .finishAll(_, let key?):
      fingerprint.map { NamedRequest(key: key, fingerprint: $0) }
    default: nil
    }
  }
}
