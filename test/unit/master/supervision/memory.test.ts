import { readFile } from 'node:fs/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { collectGarbageAfterWork, SMALL_REQUESTS_MEMORY } from '../../../../core/master/supervision/memory.ts'

test('bin/salt-master starts the supervisor as the supervisor starts its children', async () => {
  const text = await readFile(new URL('../../../../bin/salt-master', import.meta.url), 'utf8')
  for (const flag of SMALL_REQUESTS_MEMORY.flags) expect(text).toContain(` ${flag} `)
  for (const [name, value] of Object.entries(SMALL_REQUESTS_MEMORY.env))
    expect(text).toContain(`${name}=\${${name}:-${value}}`)
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

test('garbage is collected once more when a load is over, however few requests there were since the last collection', () => {
  vi.useFakeTimers()
  let used = 0
  vi.spyOn(process, 'cpuUsage').mockImplementation(() => ({ user: used, system: 0 }))
  const collected: string[] = []
  let phase = 'load'
  collectGarbageAfterWork(() => {
    collected.push(phase)
    used += 40_000
  })
  const look = (milliseconds: number) => {
    used += milliseconds * 1000
    vi.advanceTimersByTime(5_000)
  }
  look(5_000)
  phase = 'quiet for less than five minutes'
  for (let count = 0; count < 59; count++) look(1)
  phase = 'quiet for five minutes'
  look(1)
  phase = 'rest'
  for (let count = 0; count < 20; count++) look(1)
  expect(collected).toEqual(['load', 'quiet for five minutes'])
})
