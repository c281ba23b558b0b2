/// A file as this process wrote or read it last.
struct KnownFile {
  var signature: FileSignature
  /// The hash of its contents; 0 while they are not known.
  var hash: UInt64
}
