import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { JobStartEvents } from '../../../../core/minion/link/job-start-events.ts'
import { quietLog } from '../../../harness/log.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const log = quietLog
const job = (n: number) => ({ jid: `2026112100000000000${n}`, fun: 'test.sleep' })

function setUp({ isSignedIn = true, request = vi.fn(async (_load: object): Promise<unknown> => null) } = {}) {
  const receipts = new JobStartEvents({ id: 'web1', log, afterMs: 500 })
  return { receipts, connection: { isSignedIn, request }, request }
}

test('jobs that begin together are reported together, in one request, under the tag of each', () => {
  const { receipts, connection, request } = setUp()
  vi.spyOn(Math, 'random').mockReturnValue(0)
  receipts.began(job(1), connection)
  receipts.began(job(2), connection)
  vi.advanceTimersByTime(499)
  expect(request).not.toHaveBeenCalled()
  vi.advanceTimersByTime(60)
  expect(request.mock.calls).toEqual([
    [
      {
        id: 'web1',
        cmd: '_minion_event',
        pretag: null,
        events: [1, 2].map((n) => ({
          tag: `salt/job/${job(n).jid}/start/web1`,
          data: { ...job(n), id: 'web1' },
        })),
      },
    ],
  ])
  vi.restoreAllMocks()
})

test('a job that ends within half a second is not reported', () => {
  const { receipts, connection, request } = setUp()
  const over = receipts.began(job(1), connection)
  vi.advanceTimersByTime(400)
  over()
  vi.advanceTimersByTime(5000)
  expect(request).not.toHaveBeenCalled()
})

test('nothing is sent to a disconnected master, or after the end, and a failed request does no harm', async () => {
  const away = setUp({ isSignedIn: false })
  away.receipts.began(job(1), away.connection)
  const closed = setUp()
  closed.receipts.began(job(1), closed.connection)
  closed.receipts.close()
  const deaf = setUp({ request: vi.fn(async () => Promise.reject(new Error('no answer'))) })
  deaf.receipts.began(job(1), deaf.connection)
  await vi.advanceTimersByTimeAsync(5000)
  expect(away.request).not.toHaveBeenCalled()
  expect(closed.request).not.toHaveBeenCalled()
  expect(deaf.request).toHaveBeenCalledOnce()
})
