import { expect, test } from 'vitest'
import { createStartAnswers } from '../../../../core/master/handlers/minion-start.ts'

const start = { token: '0123456789abcdef', address: '10.0.0.7', host: 'web1', pid: 7 }

function answersWith(minions: () => Promise<unknown[]>, sign_pub_messages = true) {
  const config = { sign_pub_messages, refuse_second_minion: false }
  const syndics = { mayBe: (id: string) => id === 'syndic' }
  const context = { config, keys: { minions }, starts: { save: async () => {} }, syndics }
  const answer = createStartAnswers(context as never)
  return (id = 'web1') => answer(id, start)
}

test.each([
  [3, 1_000],
  [5_000, 5_000],
  [50_000, 30_000],
])('%i minions are asked to spread their reconnection over %i ms', async (count, reconnectMs) => {
  const answer = answersWith(async () => Array.from({ length: count }))
  expect(await answer()).toEqual({ missedJobs: 'signed', reconnectMs })
})

test('a master with order_masters tells syndics only that it accepts their reports', async () => {
  const answer = answersWith(async () => [])
  expect(await answer('syndic')).toMatchObject({ takesSyndics: true })
  expect(await answer('web1')).not.toHaveProperty('takesSyndics', true)
})

test('a master that does not sign publications marks missed jobs as unsigned', async () => {
  expect(await answersWith(async () => [], false)()).toMatchObject({ missedJobs: 'unsigned' })
})

test('minions are counted once for many starts, and again if that failed', async () => {
  let counts = 0
  const answer = answersWith(async () => {
    if (++counts === 1) throw new Error('EMFILE')
    return []
  })
  await expect(answer()).rejects.toThrow('EMFILE')
  await answer()
  await answer()
  expect(counts).toBe(2)
})
