import { expect, test, vi } from 'vitest'
import { watchConnection } from '../../../core/transport/zeromq/connect.ts'
import { SLOW } from '../../harness/slow.ts'

const OUT_OF_FILES = 'Too many open file descriptors'

/** A socket that can be watched when file descriptors are free again. */
function starvedSocket(events: readonly { type: string }[]) {
  let attempts = 0
  return {
    closed: false,
    get events() {
      if (++attempts === 1) throw new Error(OUT_OF_FILES)
      return (async function* () {
        yield* events
      })() as never
    },
  }
}

test('a connection that cannot be watched is renewed once it can, without an exception', SLOW, async () => {
  vi.useFakeTimers()
  try {
    const seen: string[] = []
    const watching = watchConnection(starvedSocket([{ type: 'connect' }, { type: 'handshake' }]), {
      abandoned: () => void seen.push('abandoned'),
      up: () => void seen.push('up'),
    })
    await vi.runAllTimersAsync()
    await watching
    expect(seen).toEqual(['abandoned', 'up'])
  } finally {
    vi.useRealTimers()
  }
})

test('a connection that cannot be renewed is tried again', async () => {
  vi.useFakeTimers()
  try {
    let failures = 2
    const abandoned = vi.fn(() => {
      if (failures-- > 0) throw new Error(OUT_OF_FILES)
    })
    const endless = (async function* () {
      yield { type: 'disconnect' }
      await new Promise(() => {})
    })() as never
    void watchConnection({ closed: false, events: endless }, { abandoned })
    await vi.advanceTimersByTimeAsync(5_000)
    expect(abandoned).toHaveBeenCalledTimes(3)
  } finally {
    vi.useRealTimers()
  }
})
