/** Write lines into the log of the minion. */
import { fn, p } from 'salt-ts'

/** The name under which users call it. */
export const virtualName = 'log'

const message = p.string()

/**
 * Log a message at the level debug.
 *
 * @example salt '*' log.debug 'JJJJJJJJJJJJJJJJJJJ'
 */
export const debug = fn({ message }, ({ message }, { log }) => {
  log.debug(message)
  return true
})

/**
 * Log a message at the level info.
 *
 * @example salt '*' log.info 'This is an info message'
 */
export const info = fn({ message }, ({ message }, { log }) => {
  log.info(message)
  return true
})

/**
 * Log a message at the level warning.
 *
 * @example salt '*' log.warning 'The disk is nearly full'
 */
export const warning = fn({ message }, ({ message }, { log }) => {
  log.warn(message)
  return true
})

/**
 * Log a message at the level error.
 *
 * @example salt '*' log.error 'The deployment failed'
 */
export const error = fn({ message }, ({ message }, { log }) => {
  log.error(message)
  return true
})

/**
 * Log a message at the level error: the log has no level critical.
 *
 * @example salt '*' log.critical 'This is a critical message'
 */
export const critical = fn({ message }, ({ message }, { log }) => {
  log.error(message)
  return true
})

/**
 * Log a message at the level error.
 *
 * @example salt '*' log.exception 'This is an exception message'
 */
export const exception = fn({ message }, ({ message }, { log }) => {
  log.error(message)
  return true
})
