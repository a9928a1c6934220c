import { beforeEach, describe, expect, test } from 'vitest'
import type { KnownStart } from '../../../../core/cache/minion-starts.ts'
import { DuplicateMinions, duplicateMessage } from '../../../../core/master/publisher/duplicate-minions.ts'

const run = (token: string, address: string, at: number): KnownStart => ({
  token,
  address,
  host: 'vm',
  pid: at,
  at,
})
const [first, second, third] = [run('a', '10.0.0.5', 1), run('b', '10.0.0.6', 2), run('c', '10.0.0.7', 3)]

describe('two minions with one id and key', () => {
  let connected: string[]
  let known: readonly KnownStart[]
  let told: string[][]
  let seconds: DuplicateMinions
  let now: number
  beforeEach(() => {
    connected = []
    known = [first, second, third]
    told = []
    now = 0
    seconds = new DuplicateMinions({
      acceptedIds: async () => ['web1', 'web2'],
      runs: () =>
        new Map([
          ['web1', connected],
          ['web2', ['d']],
        ]),
      startsOf: async (id) => (id === 'web1' ? known : []),
      report: (id, starts) => told.push([id, ...starts.map(({ address }) => address)]),
      elapsed: () => now,
    })
  })
  const look = (seconds_: number, ...tokens: string[]) => {
    connected = tokens
    now += seconds_ * 1000
    return seconds.check()
  }

  test('are reported once both have stayed connected, with their addresses, and once an hour', async () => {
    await look(0, 'a')
    await look(5, 'a', 'b')
    await look(20, 'a', 'b')
    expect(told).toEqual([])
    await look(5, 'a', 'b')
    await look(5, 'a', 'b')
    expect(told).toEqual([['web1', '10.0.0.5', '10.0.0.6']])
    await look(3600, 'a', 'b')
    expect(told).toHaveLength(2)
  })

  test('are not reported for one that was restarted, whose old connection is still listed', async () => {
    await look(0, 'a')
    await look(5, 'a', 'b')
    await look(15, 'a', 'b')
    await look(5, 'b')
    await look(60, 'b')
    await look(5, 'b', 'c')
    await look(10, 'b', 'c')
    expect(told).toEqual([])
  })

  test('are reported in a sentence with both addresses and what to do', () => {
    expect(duplicateMessage('web1', [first, second])).toMatch(
      /^2 minions run with the id web1 .*one at 10\.0\.0\.5 \(host vm, process 1\), and one at 10\.0\.0\.6 .*refuse_second_minion: true/,
    )
  })
})
