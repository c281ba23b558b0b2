import Foundation

// Usage: EmbedPage FOLDER OUTPUT
//
// Writes the files of a folder into a Swift source file, as string literals: they compile in a fraction of the time that
// arrays of bytes take. The build-tool plugin beside it runs this whenever something in the folder has changed.

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
  FileHandle.standardError.write(Data("usage: EmbedPage FOLDER OUTPUT\n".utf8))
  exit(64)
}
do {
  let files = try PageFolder(path: arguments[1]).files()
  try Data(SwiftSource(files: files).text.utf8).write(to: URL(fileURLWithPath: arguments[2]))
} catch {
  FileHandle.standardError.write(Data("error: \(arguments[1]) can't be embedded: \(error)\n".utf8))
  exit(1)
}
