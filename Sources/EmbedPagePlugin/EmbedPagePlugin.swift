import Foundation
import PackagePlugin

/// Builds the files of the folder `web` into the target that uses this plugin, whichever files they are.
@main
struct EmbedPagePlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    let folder = context.package.directoryURL.appendingPathComponent("web")
    let output = context.pluginWorkDirectoryURL.appendingPathComponent("EmbeddedFiles.swift")
    return [
      .buildCommand(
        displayName: "Embedding the page", executable: try context.tool(named: "EmbedPage").url,
        arguments: [folder.path, output.path], inputFiles: try inputs(folder), outputFiles: [output]
      )
    ]
  }

  /// Every file, so that a change of one is noticed, and every folder, so that a file that comes or goes is.
  private func inputs(_ folder: URL) throws -> [URL] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
    return [folder] + names.map { folder.appendingPathComponent($0) }
  }
}
