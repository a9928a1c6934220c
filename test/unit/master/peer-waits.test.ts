import { expect, test } from 'vitest'
import { PeerWaits } from '../../../core/master/peer-waits.ts'
import type { WorkerRoom } from '../../../core/master/room.ts'

test('a store that fails while somebody waits does not keep others from waiting', async () => {
  let isAway = true
  let looks = 0
  const jobs = {
    return() {
      if (isAway) throw new Error('the store is away')
      return ++looks < 3 ? undefined : { return: 1 }
    },
    returns: () => [['db1', { return: 1 }]],
  }
  const waits = new PeerWaits({ jobs } as unknown as Pick<WorkerRoom, 'jobs'>)
  const wait = () => waits.returns({ jid: '1', minions: ['db1'] }, { timeout: 5, full: false })
  for (let failed = 0; failed < 100; failed++) await expect(wait()).rejects.toThrow('the store is away')
  isAway = false
  expect(await wait()).toEqual({ db1: 1 })
  expect(looks).toBe(3)
})
