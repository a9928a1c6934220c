import { expect, test } from 'vitest'
import { loadMinionConfig } from '../../../../core/config/index.ts'
import {
  choosesOne,
  failoverTimes,
  inOrder,
  mastersInOrder,
} from '../../../../core/minion/link/choose-masters.ts'

const masters = ['a', 'b', 'c', 'd']
const config = (options: Record<string, unknown>) =>
  loadMinionConfig({ configDir: '/nonexistent', overrides: { id: 'web1', master: masters, ...options } })
    .config
const hosts = (options: Record<string, unknown>) => mastersInOrder(config(options)).map(({ host }) => host)

test('several masters are served at once, or with failover one at a time', () => {
  expect(
    ['str', 'failover', 'distributed', 'disable'].map((master_type) => choosesOne(config({ master_type }))),
  ).toEqual([false, true, true, false])
})

test('failover keeps the order of the list', () => {
  expect(hosts({ master_type: 'failover' })).toEqual(masters)
})

test('distributed starts with a master that the id determines, as in Salt: CRC-32 modulo their number', () => {
  expect(hosts({ master_type: 'distributed', id: 'web1' })).toEqual(['b', 'a', 'c', 'd'])
  const firsts = new Set(
    Array.from({ length: 50 }, (_, n) => hosts({ master_type: 'distributed', id: `web${n}` })[0]),
  )
  expect(firsts.size).toBe(4)
})

test.each(['random_master', 'master_shuffle'])(
  '%s shuffles the masters, all but the first with master_failback',
  (name) => {
    let next = 4
    const random = () => next--
    const shuffled = inOrder(masters, config({ master_type: 'failover', [name]: true }), random)
    expect(shuffled).toEqual(['d', 'c', 'b', 'a'])
    next = 4
    const options = config({ master_type: 'failover', [name]: true, master_failback: true })
    expect(inOrder(masters, options, random)).toEqual(['a', 'd', 'c', 'b'])
  },
)

test('without failover random_master changes nothing, since all masters serve', () => {
  expect(hosts({ random_master: true })).toEqual(masters)
})

test('with master_type: disable there is no master', () => {
  expect(hosts({ master_type: 'disable' })).toEqual([])
})

test('the times come from the options', () => {
  expect(failoverTimes(config({}))).toEqual({ tryMs: 8000, graceMs: 3000, pauseMs: 2000, failbackMs: 0 })
  const given = { master_alive_interval: 5, master_failback: true, auth_timeout: 2 }
  expect(failoverTimes(config(given))).toEqual({
    tryMs: 5000,
    graceMs: 5000,
    pauseMs: 2000,
    failbackMs: 5000,
  })
  expect(failoverTimes(config({ ...given, master_failback_interval: 7 }))).toMatchObject({ failbackMs: 7000 })
  expect(failoverTimes(config({ master_failback: true }))).toMatchObject({ failbackMs: 30_000 })
})
