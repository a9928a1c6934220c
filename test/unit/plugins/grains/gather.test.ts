import { expect, test } from 'vitest'
import { recordingLog } from '../../../../core/testing/recording-log.ts'
import { gather, type Searches } from '../../../../plugins/grains/_facts/gather.ts'
import { Host } from '../../../../plugins/grains/_facts/host.ts'

async function gathered(searches: Searches, milliseconds?: number) {
  const lines: string[] = []
  const log = recordingLog((_, message) => void lines.push(message))
  return { grains: await gather(log, searches, milliseconds), lines }
}

test('a failed search is logged, and the others count', async () => {
  const searches = { broken: () => Promise.reject(new Error('why')), good: () => ({ a: 1, b: undefined }) }
  expect(await gathered(searches)).toEqual({
    grains: { a: 1 },
    lines: ['The grains about broken are missing: why'],
  })
})

test('a later search overrides an earlier one', async () => {
  expect((await gathered({ first: () => ({ a: 1 }), second: () => ({ a: 2 }) })).grains).toEqual({ a: 2 })
})

test('a search that times out is logged and left out, and its program is ended', async () => {
  const host = new Host()
  let ended: Promise<unknown> | undefined
  const slow = (signal: AbortSignal) => {
    ended = host.run(['/bin/sleep', '60'], signal).catch((error) => error.code)
    return ended.then(() => ({ slow: true }))
  }
  const { grains, lines } = await gathered({ 'the slow one': slow, good: () => ({ a: 1 }) }, 50)
  expect(grains).toEqual({ a: 1 })
  expect(lines).toEqual(['The grains about the slow one are missing: they were not found within 0.05 s'])
  expect(await ended).toBe('ABORT_ERR')
})
