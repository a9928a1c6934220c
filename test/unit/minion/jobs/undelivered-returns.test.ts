import { afterEach, beforeEach, expect, test } from 'vitest'
import { ReturnSpool } from '../../../../core/jobs/return-spool.ts'
import { Deliverer } from '../../../../core/minion/jobs/deliverer.ts'
import { UndeliveredReturns } from '../../../../core/minion/jobs/undelivered-returns.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { quietLog } from '../../../harness/log.ts'
import { until } from '../../../harness/until.ts'

let folder: string
let spool: ReturnSpool
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-leftovers-')
  spool = ReturnSpool.open(folder)
})
afterEach(async () => {
  await spool.close()
  await removeFolder(folder)
})

test('a return that another process left in the spool is sent once; the return of a running job is not', async () => {
  const sent: unknown[] = []
  const log = quietLog
  const deliverer = new Deliverer({
    spool,
    spooled: [],
    send: async (ret) => {
      sent.push(ret.return)
      return null
    },
    log,
    retry: { min: 1, max: 1 },
  })
  const [unknown, followed] = ['20261122000000000001', '20261122000000000002']
  const leftovers = new UndeliveredReturns({
    spool,
    deliverers: [deliverer],
    procs: { get: (jid) => (jid === followed ? ({} as never) : undefined) },
    deliver: (entry) => deliverer.deliver(entry),
    log,
    checkMs: 5,
  })
  const other = ReturnSpool.open(folder)
  await other.add({ jid: followed, ret: { return: 'followed' } })
  await other.add({ jid: unknown, ret: { return: 'unknown' } })
  await other.close()
  await until('one of the two to be sent', () => sent.length > 0 && spool.size === 1)
  expect(sent).toEqual(['unknown'])
  leftovers.close()
  await deliverer.close(0)
})
