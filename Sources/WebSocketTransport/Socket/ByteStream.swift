/// A connection as bytes, with or without TLS. The loop's thread.
protocol ByteStream: AnyObject {
  /// What arrived and was not taken yet.
  var input: [UInt8] { get set }
  /// Called when `input` has grown.
  var arrived: () -> Void { get set }
  /// Called once when nothing more will arrive: the peer's end (false) or an error (true).
  var ended: (_ isBroken: Bool) -> Void { get set }

  /// Whether something can be said to the peer.
  var isReady: Bool { get }
  /// Bytes that were given to `write` and the kernel has not taken.
  var unsentByteCount: Int { get }
  /// How many bytes the peer has acknowledged; negative when that is not known.
  var acknowledgedByteCount: Int64 { get }
  /// What is wrong with the peer's way of speaking, if anything is.
  var fault: StreamFault? { get }

  /// Reads until `pauseReading`.
  func resumeReading()
  func pauseReading()
  /// Sends all of it, in as many parts as the socket wants; one write at a time.
  func write(_ bytes: [UInt8], then: @escaping (_ isSent: Bool) -> Void)
  /// Says that nothing more will be sent; what the peer still sends can be read.
  func endWriting()
  func close()
  /// Closes it, and lets the kernel forget what it holds for the peer.
  func abort()
}

/// What may be wrong with a stream that was to be TLS.
enum StreamFault: Equatable {
  /// It is not TLS at all; what it says can be read, and answered in plain text.
  case notTLS
  /// The session failed.
  case failed(String)
}
