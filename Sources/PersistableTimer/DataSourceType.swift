public import Foundation
import TimerStorage

/// Where a timer is kept.
public enum DataSourceType {
  /// In the defaults of an app; what is stored there by earlier versions of this library's model is found again.
  case userDefaults(UserDefaults)
  /// Nowhere: gone with the object.
  case inMemory
  /// In a folder, a JSON file a timer, each change on the disk before it is told. Several processes may use it
  /// at the same time.
  case jsonFiles(directory: URL)
}

extension DataSourceType {
  var dataSource: any DataSource {
    switch self {
    case .userDefaults(let defaults): UserDefaultsClient(userDefaults: defaults)
    case .inMemory: InMemoryDataSource()
    case .jsonFiles(let directory): JSONFilesDataSource(directory: directory)
    }
  }
}
