import { expect, test } from 'vitest'
import type { WorkerContext } from '../../../../core/master/worker/context.ts'
import { PeerWaits } from '../../../../core/master/worker/peer-waits.ts'
import { SLOW } from '../../../harness/slow.ts'

test('a store that fails during a wait does not keep other minions from waiting', SLOW, async () => {
  let isAway = true
  let looks = 0
  const jobs = {
    return() {
      if (isAway) throw new Error('the store is away')
      return ++looks < 3 ? undefined : { return: 1 }
    },
    returns: () => [['db1', { return: 1 }]],
  }
  const waits = new PeerWaits({ jobs } as unknown as Pick<WorkerContext, 'jobs'>)
  const wait = () => waits.returns({ jid: '1', minions: ['db1'] }, { timeout: 5, full: false })
  for (let failed = 0; failed < 100; failed++) await expect(wait()).rejects.toThrow('the store is away')
  isAway = false
  expect(await wait()).toEqual({ db1: 1 })
  expect(looks).toBe(3)
})
