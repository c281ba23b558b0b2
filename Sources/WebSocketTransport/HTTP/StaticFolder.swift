import Foundation
import SharedAlgorithms

extension StaticFile {
  /// Creates a file with the content type of its extension, and with an entity tag made from its contents.
  public init(name: String, body: [UInt8]) {
    let ending = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
    self.init(
      contentType: Self.contentTypes[ending] ?? "application/octet-stream", body: body,
      entityTag: "\"\(String(FNV1a(body).value, radix: 16))\"")
  }

  /// Every file below a folder, by its URL path; hidden ones are left out.
  ///
  /// They are read once, so that a request can never reach a file that isn't among them.
  public static func folder(_ path: String) throws -> [String: StaticFile] {
    var files: [String: StaticFile] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
      let parts = name.split(separator: "/")
      let url = URL(fileURLWithPath: path).appendingPathComponent(name)
      guard !parts.contains(where: { $0.hasPrefix(".") }),
        try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true
      else { continue }
      files["/" + name] = StaticFile(name: name, body: Array(try Data(contentsOf: url)))
    }
    return files
  }

  private static let contentTypes = [
    "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8", "json": "application/json; charset=utf-8",
    "webmanifest": "application/manifest+json", "svg": "image/svg+xml", "png": "image/png",
    "ico": "image/x-icon", "txt": "text/plain; charset=utf-8", "md": "text/markdown; charset=utf-8",
    "woff2": "font/woff2", "mp3": "audio/mpeg", "wav": "audio/wav",
  ]
}
