import { SaltError } from '../base/errors.ts'
import { Turns } from '../base/turns.ts'
import type { MasterLink } from './master-link.ts'

/** Requests of one link under way at once. Further ones wait, and their time begins when it is their turn. */
const AT_ONCE = 48
/** They wait so long for it at most. Milliseconds. */
const PATIENCE_MS = 60_000

/** Thousands may ask at the same moment: the last of them would be given up before the master has come to it. */
export function inTurns(ask: MasterLink['ask']): MasterLink['ask'] {
  const turns = new Turns(AT_ONCE)
  return async (load, timeoutMs, via) => {
    const leave = await turns.take(turns.full ? AbortSignal.timeout(PATIENCE_MS) : undefined).catch(busy)
    try {
      return await ask(load, timeoutMs, via)
    } finally {
      leave()
    }
  }
}

function busy(cause: unknown): never {
  throw new SaltError(
    'MASTER_UNREACHABLE',
    `The master does not keep up: the request has waited for ${PATIENCE_MS / 1000} seconds behind others, and was not ` +
      'sent. See worker_threads of the master.',
    { reason: 'The master does not keep up with the requests of this server. Nothing was sent.' },
    { cause },
  )
}
