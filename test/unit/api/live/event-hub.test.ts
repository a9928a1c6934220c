import { expect, test } from 'vitest'
import { EventHub } from '../../../../core/api/live/event-hub.ts'
import type { MasterEvents } from '../../../../core/client/local/master-link.ts'
import type { Event } from '../../../../core/events/index.ts'
import { fakeLog } from '../../../../core/testing/recording-log.ts'
import { SLOW } from '../../../harness/slow.ts'
import { until } from '../../../harness/until.ts'

const [BAD, GOOD] = ['20260101000000000001', '20260101000000000002'] as const

const tooLong = Object.defineProperty({}, 'x', {
  enumerable: true,
  get() {
    throw new RangeError('Invalid string length')
  },
})

test(
  'a job that is too long to be written is left out for readers of formatted events, and later jobs are not',
  SLOW,
  async () => {
    const events: Event[] = [
      { tag: `salt/job/${BAD}/new`, data: { minions: [], fun: tooLong } },
      { tag: `salt/job/${GOOD}/new`, data: { minions: [], fun: 'test.ping' } },
    ]
    const { log, lines } = fakeLog()
    const subscribe = () =>
      Object.assign(
        (async function* () {
          yield* events
        })(),
        { close: () => {} },
      )
    const bus = { subscribe } as unknown as MasterEvents
    const hub = new EventHub(bus, { events: 'all', maxBacklog: 100_000, maxStallMs: 1000 }, log)
    let written = ''
    const write = ({ sse }: { sse: Buffer }, done: () => void) => {
      written += sse
      done()
    }
    hub.readSummaries({ write, drop: () => {} }, { owner: 'eauth:pam:fred' })
    await until('the problem in the log', () => lines.length > 0)
    expect(lines[0]?.message).toBe(
      'A job is too large for readers of formatted events: Invalid string length',
    )
    events.splice(0, 2, { tag: `salt/job/${GOOD}/ret/web1`, data: { return: true } })
    hub.readSummaries({ write, drop: () => {} }, { owner: 'eauth:pam:anna' })
    await until('the other job', () => written.includes(GOOD))
    expect(lines).toHaveLength(1)
    hub.close()
  },
)
