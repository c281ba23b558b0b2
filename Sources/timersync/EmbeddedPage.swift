import Foundation

/// The page, built into the program.
///
/// `EmbeddedFiles` is generated at each build from the files that are in the folder `web`.
enum EmbeddedPage {
  /// The contents of each file, by its path in the folder.
  static var files: [String: [UInt8]] {
    let texts = EmbeddedFiles.texts.mapValues { Array($0.utf8) }
    return EmbeddedFiles.encoded.reduce(into: texts) { files, file in
      guard let contents = Data(base64Encoded: file.value) else {
        preconditionFailure("\(file.key) is embedded in Base64")
      }
      files[file.key] = Array(contents)
    }
  }
}
