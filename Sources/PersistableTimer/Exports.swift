// The types that a program gets by importing this module alone. The server uses the same ones.
@_exported public import struct TimerCore.PausePeriod
@_exported public import struct TimerCore.RestoreTimerData
@_exported public import enum TimerCore.RestoreType
@_exported public import struct TimerCore.TimerState
@_exported public import enum TimerCore.TimerStatus
