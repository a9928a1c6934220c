/**
 * Spreads a job over the minions: each waits its part of `splaytime` seconds, always the same, before the next executor
 * has its turn. It is the option of the job, else that of the configuration, else 300.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { executor, SaltInvocationError } from 'salt-ts'

/** Minions are told apart by so many values of their hash. */
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

/** Jenkins' one-at-a-time hash, as Salt takes it, so that a minion has the same place whichever of the two runs it. */
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
