/** The module `ledger` of the minions: its functions write down, on disk, that they begin and that they end. */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { type Context, fn, p } from 'salt-ts'
import { type Entry, hostTime, ledgerOf, lineOf, returnOf } from './entries.ts'

/** Work for some milliseconds, and return a value of this size that only this job has on this minion. */
export const work = fn(
  { ms: p.default(p.integer({ minimum: 0 }), 0), bytes: p.default(p.integer({ minimum: 0 }), 0) },
  async ({ ms, bytes }, context) => {
    note(context, 'begin')
    await delay(ms)
    note(context, 'end')
    return returnOf(context.job?.jid ?? '', context.id, bytes)
  },
)

function note({ id, job, opts }: Pick<Context, 'id' | 'job' | 'opts'>, what: Entry['what']): void {
  const file = openSync(ledgerOf(String(opts.root_dir)), 'a')
  try {
    writeSync(file, lineOf({ jid: job?.jid ?? '', id, what, at: hostTime() }))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
