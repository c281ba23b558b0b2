import Foundation

/// A folder of files for the browser.
struct PageFolder {
  let path: String

  /// The contents of every file below the folder, in the order of their paths. Hidden files are left out, as the server
  /// leaves them out of the folder that `--web` names.
  func files() throws -> [(path: String, contents: Data)] {
    let folder = URL(fileURLWithPath: path)
    return try FileManager.default.subpathsOfDirectory(atPath: path).sorted().compactMap { name in
      let file = folder.appendingPathComponent(name)
      guard !name.split(separator: "/").contains(where: { $0.hasPrefix(".") }),
        try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true
      else { return nil }
      return (name, try Data(contentsOf: file))
    }
  }
}
