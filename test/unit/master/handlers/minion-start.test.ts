import { expect, test } from 'vitest'
import { createStartAnswers } from '../../../../core/master/handlers/minion-start.ts'

const start = { token: '0123456789abcdef', address: '10.0.0.7', host: 'web1', pid: 7 }

function answersWith(minions: () => Promise<unknown[]>, sign_pub_messages = true) {
  const config = { sign_pub_messages, refuse_second_minion: false }
  const answer = createStartAnswers({ config, keys: { minions }, starts: { save: async () => {} } } as never)
  return () => answer('web1', start)
}

test.each([
  [3, 1_000],
  [5_000, 5_000],
  [50_000, 30_000],
])('%i minions are to spread over %i ms when they reconnect', async (count, reconnectMs) => {
  const answer = answersWith(async () => Array.from({ length: count }))
  expect(await answer()).toEqual({ missedJobs: 'signed', reconnectMs })
})

test('a master that does not sign says so', async () => {
  expect(await answersWith(async () => [], false)()).toMatchObject({ missedJobs: 'unsigned' })
})

test('minions are not counted for each start, but again if that failed', async () => {
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
