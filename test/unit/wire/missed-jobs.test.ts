import { expect, test } from 'vitest'
import { decodeUntrusted, encodeNetwork } from '../../../core/codec/index.ts'
import {
  makeMissedJobsReply,
  makeMissedJobsRequest,
  readMissedJobsReply,
  readMissedJobsRequest,
} from '../../../core/wire/missed-jobs.ts'
import type { JobLoad } from '../../../core/wire/publication.ts'

const job: JobLoad = {
  fun: 'test.echo',
  arg: ['1.10'],
  tgt: '*',
  jid: '20261121000000000001',
  ret: '',
  tgt_type: 'glob',
  user: 'root',
}
const overTheWire = (load: Readonly<Record<string, unknown>>) =>
  decodeUntrusted(encodeNetwork(load)) as Record<string, unknown>

test('a request contains the position of the last job that was received', () => {
  expect(readMissedJobsRequest(overTheWire(makeMissedJobsRequest('web1')))).toBeUndefined()
  const position = [1_795_000_000_000, job.jid] as const
  expect(readMissedJobsRequest(overTheWire(makeMissedJobsRequest('web1', position)))).toEqual(position)
})

test.each([[[]], [[1]], [['soon', job.jid]], [[1, '']], [[1, 'x'.repeat(65)]], ['1'], [{}]])(
  'a position %j is invalid',
  (after) => expect(readMissedJobsRequest({ after })).toBeUndefined(),
)

test('a page of jobs is decoded as it was made, without invalid jobs', () => {
  const words = { args: ['1.10'], kwargs: {} }
  const page = { jobs: [{ job, words }, { job }], next: [1_795_000_000_000, job.jid] as const }
  expect(readMissedJobsReply(overTheWire(makeMissedJobsReply(page)))).toEqual({
    ...page,
    jobs: [
      { job, words },
      { job, words: undefined },
    ],
  })
  expect(readMissedJobsReply({ jobs: [1, {}, { job: {} }, { job }] }).jobs).toHaveLength(1)
  for (const reply of [undefined, 'no', { jobs: 'none' }]) expect(readMissedJobsReply(reply).jobs).toEqual([])
})
