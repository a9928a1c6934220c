import { expect, test } from 'vitest'
import { EvenDelay } from '../../../core/auth/even-delay.ts'

const MINUTE = 60_000

/** Refuses after work of so many milliseconds, and gives how long that took in all. */
function open() {
  let time = 0
  const delay = new EvenDelay({
    now: () => time,
    sleep: async (ms) => {
      time += ms
    },
  })
  return {
    async refuse(worked: number): Promise<number> {
      const since = time
      time += worked
      await delay.refuse(since)
      return time - since
    },
    pass: (ms: number) => {
      time += ms
    },
  }
}

test('a refusal takes half a second and up to a quarter more, whatever the reason', async () => {
  const { refuse } = open()
  for (const worked of [0, 10, 400]) {
    const took = await refuse(worked)
    expect(took).toBeGreaterThanOrEqual(500)
    expect(took).toBeLessThan(625)
  }
})

test('if checking a password takes longer, all refusals take as long, also after a while without any', async () => {
  const { refuse, pass } = open()
  for (let minute = 0; minute < 5; minute++) {
    await refuse(2000)
    pass(MINUTE)
  }
  expect(await refuse(0)).toBeGreaterThanOrEqual(2000)
  pass(60 * MINUTE)
  expect(await refuse(0)).toBeGreaterThanOrEqual(2000)
})

test('one slow refusal does not slow down those after it', async () => {
  const { refuse, pass } = open()
  for (let minute = 0; minute < 3; minute++) {
    await refuse(0)
    pass(MINUTE)
  }
  for (let n = 0; n < 10; n++) await refuse(4000)
  pass(MINUTE)
  expect(await refuse(0)).toBeLessThan(625)
})

test('a slow refusal at the start of a master does not slow down those after it', async () => {
  const { refuse, pass } = open()
  await refuse(4000)
  pass(MINUTE)
  expect(await refuse(0)).toBeLessThan(625)
})
