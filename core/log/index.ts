export { type DaemonLogOptions, openDaemonLog } from './daemon-log.ts'
export { createLogger, type Logger } from './logger.ts'
export type { LogFormats, LoggerSettings } from './outlets.ts'
