/// A connection as bytes, with or without TLS. The loop's thread.
protocol ByteStream: AnyObject {
  /// Bytes that have arrived and are not consumed yet.
  var input: [UInt8] { get set }
  /// Called when `input` has grown.
  var arrived: () -> Void { get set }
  /// Called once when nothing more will arrive: the peer's end (false) or an error (true).
  var ended: (_ isBroken: Bool) -> Void { get set }

  /// Bytes that were given to `write` and the kernel has not taken.
  var unsentByteCount: Int { get }
  /// The number of bytes that the peer has acknowledged; negative when it is unknown.
  var acknowledgedByteCount: Int64 { get }
  /// The fault in the peer's protocol, if there is one.
  var fault: StreamFault? { get }

  /// Reads until `pauseReading`.
  func resumeReading()
  func pauseReading()
  /// Sends all of it, in as many parts as the socket wants; one write at a time.
  func write(_ bytes: [UInt8], then: @escaping (_ isSent: Bool) -> Void)
  /// Closes the sending side (TCP FIN, TLS `close_notify`); the peer's data can still be read.
  func endWriting()
  func close()
  /// Closes it, and lets the kernel forget what it holds for the peer.
  func abort()
}

/// Faults of a stream that should be TLS.
enum StreamFault: Equatable {
  /// The bytes are no TLS. They can be read, and answered in plain text.
  case notTLS
  /// The session failed.
  case failed(String)
}
