import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StartReceipts } from '../../../core/minion/start-receipts.ts'
import { recordingLog } from '../../../core/testing/recording-log.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const log = recordingLog(() => {})
const job = (n: number) => ({ jid: `2026112100000000000${n}`, fun: 'test.sleep' })

function setUp({ isSignedIn = true, request = vi.fn(async (_load: object): Promise<unknown> => null) } = {}) {
  const receipts = new StartReceipts({ id: 'web1', log, afterMs: 500 })
  return { receipts, link: { isSignedIn, request }, request }
}

test('jobs that begin together are told together, in one request, under the tag of each', () => {
  const { receipts, link, request } = setUp()
  vi.spyOn(Math, 'random').mockReturnValue(0)
  receipts.began(job(1), link)
  receipts.began(job(2), link)
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

test('a job that is over within half a second is not told of', () => {
  const { receipts, link, request } = setUp()
  const over = receipts.began(job(1), link)
  vi.advanceTimersByTime(400)
  over()
  vi.advanceTimersByTime(5000)
  expect(request).not.toHaveBeenCalled()
})

test('nothing is sent to a master that is away, or after the end; one that does not answer does no harm', async () => {
  const away = setUp({ isSignedIn: false })
  away.receipts.began(job(1), away.link)
  const closed = setUp()
  closed.receipts.began(job(1), closed.link)
  closed.receipts.close()
  const deaf = setUp({ request: vi.fn(async () => Promise.reject(new Error('no answer'))) })
  deaf.receipts.began(job(1), deaf.link)
  await vi.advanceTimersByTimeAsync(5000)
  expect(away.request).not.toHaveBeenCalled()
  expect(closed.request).not.toHaveBeenCalled()
  expect(deaf.request).toHaveBeenCalledOnce()
})
