export { type DaemonLog, type DaemonLogOptions, openDaemonLog } from './daemon-log.ts'
export { createLogger, type Logger } from './logger.ts'
export type { LogFormats } from './outlets.ts'
