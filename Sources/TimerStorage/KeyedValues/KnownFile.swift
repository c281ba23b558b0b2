/// A file as we wrote or read it last.
struct KnownFile {
  var signature: FileSignature
  /// Of what it held; 0 while that is not known.
  var hash: UInt64
}
