import type { LogFormats, LoggerSettings } from './handlers.ts'
import { createLogger, type Logger } from './logger.ts'

/** The options of a daemon's configuration that concern its log. */
export interface DaemonLogOptions extends LogFormats {
  readonly log_level: string
  readonly log_level_logfile?: string | undefined
  readonly log_file: string
}

/** The log of a daemon or of one of its children. */
export interface DaemonLog extends Logger {
  /** Apply a configuration that was read again. */
  reload(config: DaemonLogOptions): void
}

/** Open the log of a daemon from its configuration: terminal (default: standard error) and file. */
export function openDaemonLog(
  program: string,
  config: DaemonLogOptions,
  terminal?: { write(text: string): unknown },
): DaemonLog {
  const settings = (config: DaemonLogOptions): LoggerSettings => ({
    program,
    limitsFloods: true,
    console: { level: config.log_level, ...(terminal && { stream: terminal }) },
    file: { path: config.log_file, level: config.log_level_logfile ?? config.log_level },
    formats: config,
  })
  const log = createLogger(settings(config))
  return { ...log, reload: (config) => log.reopen(settings(config)) }
}
