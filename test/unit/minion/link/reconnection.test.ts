import { expect, test } from 'vitest'
import { portCheckMs, reconnectionWaits } from '../../../../core/minion/link/reconnection.ts'

const unset = { recon_default: undefined, recon_max: undefined, recon_randomize: true }

test.each([
  [0, 100],
  [5_000, 5_000],
  [3_600_000, 60_000],
])('a spread of %i ms from a master is used as %i ms', (asked, taken) => {
  const { reconnectMs, reconnectMaxMs } = reconnectionWaits(unset, asked)
  expect(reconnectMs).toBeGreaterThanOrEqual(taken / 10)
  expect(reconnectMs).toBeLessThanOrEqual(taken / 2) // the transport adds up to as much
  expect(reconnectMaxMs).toBe(0)
})

test('options of 0 do not cause a reconnection without a wait', () => {
  const zero = { recon_default: 0, recon_max: 0, recon_randomize: false }
  expect(reconnectionWaits(zero, 1_000).reconnectMs).toBe(1)
  expect(portCheckMs(zero)).toBe(500)
  expect(portCheckMs(unset)).toBe(15_000)
})
