import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { deferred } from '../../../core/base/deferred.ts'
import { Child, type ChildEnd, type ChildSettings } from '../../../core/process/child.ts'
import { SLOW } from '../../harness/slow.ts'

type To =
  | { readonly type: 'echo'; readonly value: unknown }
  | { readonly type: 'loop' }
  | { readonly type: 'end'; readonly code: number }
type From = { readonly type: 'echoed'; readonly value: unknown }

const entry = fileURLToPath(new URL('../../fixtures/processes/child.mjs', import.meta.url))
/** Longer than any test takes. */
const LONG_MS = 600_000

function start(settings: Partial<ChildSettings<From>> = {}): Child<To, From> {
  const child = new Child<To, From>({ entry, ...settings })
  onTestFinished(() => child.kill('SIGKILL'))
  return child
}

test('messages are passed in both directions, with values that JSON cannot express', SLOW, async () => {
  const heard = deferred<unknown>()
  const child = start({ onMessage: ({ value }) => heard.resolve(value) })
  const next = child.next('echoed', LONG_MS)
  child.send({ type: 'echo', value: new Map([['a', new Uint8Array([1])]]) })
  expect(await heard.promise).toEqual(new Map([['a', new Uint8Array([1])]]))
  expect(await next).toEqual({ type: 'echoed', value: await heard.promise })
})

test('a process that answers pings is not reported, and one in a loop is', SLOW, async () => {
  const hangs = deferred<void>()
  let pings = 0
  const child = start()
  child.send({ type: 'echo', value: 1 })
  await child.next('echoed', LONG_MS)
  child.watch({
    everyMs: 5,
    hangs: (unanswered) => {
      if (++pings === 20) child.send({ type: 'loop' })
      return unanswered > 100
    },
    onHang: hangs.resolve,
  })
  await hangs.promise
  child.kill('SIGKILL')
  expect((await child.ended).signal).toBe('SIGKILL')
})

test('a process that does not end on request is killed', SLOW, async () => {
  const child = start()
  child.send({ type: 'echo', value: 1 })
  await child.next('echoed', LONG_MS)
  await child.stop({ type: 'loop' }, 50)
  expect(await child.howItEnded()).toBe('was ended by SIGKILL')
})

test('its end is reported once, and pending waits for a message end', SLOW, async () => {
  const ends: ChildEnd[] = []
  const child = start({ onEnd: (end) => ends.push(end) })
  const next = child.next('echoed', LONG_MS)
  child.send({ type: 'end', code: 3 })
  expect(await next).toBeUndefined()
  expect(ends).toEqual([{ code: 3, signal: null }])
  expect(await child.howItEnded()).toBe('ended with exit code 3')
  child.send({ type: 'echo', value: 'lost' })
  await child.stop({ type: 'end', code: 0 }, LONG_MS)
})

test('a process ends when its parent closes the channel', SLOW, async () => {
  const child = start()
  child.send({ type: 'echo', value: 1 })
  await child.next('echoed', LONG_MS)
  child.disconnect()
  expect(await child.ended).toEqual({ code: 0, signal: null })
  expect(child.connected).toBe(false)
})

test('its end is reported to every listener that was not removed, also to later ones', SLOW, async () => {
  const child = start()
  const heard: string[] = []
  child.onceEnded(() => heard.push('before'))
  child.onceEnded(() => heard.push('given up'))()
  child.send({ type: 'end', code: 0 })
  await child.ended
  await new Promise<void>((resolve) => child.onceEnded(resolve))
  expect(heard).toEqual(['before'])
})
