import CFiles

/// The command line of this process, also where `/proc` is not mounted, which Swift reads it from.
public enum ProcessArguments {
  /// The words behind the program's name.
  public static var words: [String] {
    (0..<files_argument_count()).dropFirst().map(word)
  }

  private static func word(_ argument: Int32) -> String {
    var bytes: [UInt8] = []
    while let byte = UInt8(exactly: files_argument_byte(argument, Int32(bytes.count))), byte != 0 {
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
