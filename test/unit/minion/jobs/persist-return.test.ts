import { expect, test } from 'vitest'
import { SaltError } from '../../../../core/base/errors.ts'
import type { SpoolEntry, SpooledReturn } from '../../../../core/jobs/return-spool.ts'
import { persistReturn } from '../../../../core/minion/jobs/persist-return.ts'
import { quietLog } from '../../../harness/log.ts'
import { SLOW } from '../../../harness/slow.ts'

const log = quietLog

const ret: SpooledReturn = { jid: '20261122000000000000', ret: { return: true } }
const full = () => Promise.reject(new SaltError('STORE_FAILED', 'there is no room left on the disk'))

function keep(add: () => Promise<SpoolEntry>, send: () => Promise<unknown>, closing = new AbortController()) {
  return persistReturn(ret, { spool: { add }, send, log, closing: closing.signal })
}

test('a return is written to disk, and is not sent meanwhile', async () => {
  const entry = { ...ret, key: ['ret'], name: 'ret', isLarge: false }
  const send = () => Promise.reject(new Error('nobody asked for that'))
  expect(await keep(async () => entry, send)).toBe(entry)
})

test.each([null, false])('on a full disk it is safe once the master has answered %j', async (answer) => {
  expect(await keep(full, async () => answer)).toBeUndefined()
})

test('after no answer, or no acknowledgement, both are tried again', SLOW, async () => {
  const answers = [Promise.reject(new Error('no answer')), Promise.resolve('error'), Promise.resolve(null)]
  let tries = 0
  const add = () => {
    tries++
    return full()
  }
  expect(await keep(add, async () => answers.shift())).toBeUndefined()
  expect(tries).toBe(3)
})

test('if the minion ends, the process of the job keeps the return', async () => {
  const closing = new AbortController()
  const kept = keep(full, () => Promise.reject(new Error('no answer')), closing)
  closing.abort()
  await expect(kept).rejects.toMatchObject({ code: 'STORE_FAILED' })
})
