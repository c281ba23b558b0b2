import Foundation
import WebSocketTransport

extension [String: StaticFile] {
  /// Adds `/files.json`, a list of the files' own relative addresses, unless there is a file of that name.
  ///
  /// The page's service worker downloads what is on the list, so that the page opens without a network too.
  func addingFileList() -> Self {
    let addresses = keys.compactMap { path in
      path.dropFirst().addingPercentEncoding(withAllowedCharacters: .relativeAddress)
    }
    // A percent-encoded address holds nothing that JSON escapes.
    let list = addresses.sorted().map { "\"\($0)\"" }.joined(separator: ",\n")
    let file = StaticFile(name: "files.json", body: Array("[\(list)]\n".utf8))
    return merging(["/files.json": file]) { own, _ in own }
  }
}

extension CharacterSet {
  /// A colon in the first segment would make that a scheme (RFC 3986 §4.2).
  fileprivate static let relativeAddress =
    urlPathAllowed.subtracting(CharacterSet(charactersIn: ":"))
}
