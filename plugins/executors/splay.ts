/**
 * Spreads a job over the minions. Each waits for its own fixed part of `splaytime` seconds before the next executor runs.
 * `splaytime` is an option of the job, else of the configuration, else 300.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { executor, SaltInvocationError } from 'salt-ts'

/** Number of values of the hash that spreads the minions. */
const VALUES = 8192

export default executor({
  async execute({ fun, options }, { id, opts, log, signal }) {
    const splaytime = options.splaytime ?? opts.splaytime
    if (typeof splaytime !== 'number' || splaytime <= 0)
      throw new SaltInvocationError('splaytime must be a positive integer')
    const seconds = Math.trunc((splaytime * hash(id)) / VALUES)
    log.debug(`Splay is sleeping ${seconds} secs on ${fun}`)
    await delay(seconds * 1000, undefined, { signal })
    return null
  },
})

/** Jenkins' one-at-a-time hash, as in Salt, so that a minion gets the same delay from Salt and from salt-ts. */
function hash(text: string): number {
  let value = 0
  for (const byte of Buffer.from(text)) {
    value = (value + byte) >>> 0
    value = (value + (value << 10)) >>> 0
    value = (value ^ (value >>> 6)) >>> 0
  }
  value = (value + (value << 3)) >>> 0
  value = (value ^ (value >>> 11)) >>> 0
  value = (value + (value << 15)) >>> 0
  return value & (VALUES - 1)
}
