import { expect, test } from 'vitest'
import { takeJob } from '../../../../core/minion/jobs/take-job.ts'
import { fakeLog } from '../../../../core/testing/recording-log.ts'

const JID = '20261124120000000000'

function master(answers: readonly unknown[]) {
  const asked: unknown[] = []
  const request = async (load: unknown) => {
    asked.push(load)
    const answer = answers[asked.length - 1]
    if (answer instanceof Error) throw answer
    return answer
  }
  return { asked, connection: { address: '127.0.0.1:4506', request } }
}

function take(answers: readonly unknown[]) {
  const closing = new AbortController()
  const { asked, connection } = master(answers)
  const { log, lines } = fakeLog()
  const waits = { next: () => 1 }
  const answer = takeJob({ jid: JID }, { id: 'web1', connection, log, closing: closing.signal, waits })
  return { answer, asked, closing, lines }
}

test.each(['delivered', 'expired', 'cancelled', 'returned', 'unknown'])(
  'the answer of the master can be %s',
  async (state) => {
    const { answer, asked } = take([{ state }])
    expect(await answer).toBe(state)
    expect(asked).toEqual([{ cmd: '_take_job', id: 'web1', jid: JID }])
  },
)

test('the request goes to the master that published the job, or to another one of its cluster', async () => {
  const asked: unknown[] = []
  const connection = {
    address: '127.0.0.1:4506',
    async request(load: unknown, to: unknown) {
      asked.push(load, to)
      return { state: 'delivered' }
    },
  }
  const { log } = fakeLog()
  const closing = new AbortController().signal
  await takeJob({ jid: JID, master_id: 'one' }, { id: 'web1', connection, log, closing })
  expect(asked).toEqual([{ cmd: '_take_job', id: 'web1', jid: JID, master_id: 'one' }, { prefer: 'one' }])
})

test('the master is asked until it answers, and other answers are logged', async () => {
  const { answer, asked, lines } = take([new Error('no answer'), {}, null, { state: 'delivered' }])
  expect(await answer).toBe('delivered')
  expect(asked).toHaveLength(4)
  expect(lines.map(({ message }) => message)).toContainEqual(
    expect.stringContaining('gave no usable answer about job'),
  )
})

test('a minion that ends leaves the job to its next start', async () => {
  const { answer, closing } = take([new Error('no answer')])
  closing.abort()
  expect(await answer).toBeUndefined()
})
