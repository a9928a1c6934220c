import { expect, test } from 'vitest'
import { describeJob } from '../../../runners/_jobs/describe.ts'

test('jobs.* show further settings of a job beside its function', () => {
  const job = (load: object) =>
    describeJob({ jid: '20261122101112131415', load: { fun: 'test.ping', ...load } })
  const asked = { ret: 'http', ret_config: 'other', ret_kwargs: { url: '***' }, module_executors: ['sudo'] }
  expect(job(asked)).toMatchObject({
    Returner: 'http',
    'Return-config': 'other',
    'Return-kwargs': { url: '***' },
    'Module-executors': ['sudo'],
  })
  expect(Object.keys(job({ ret: '' }))).toEqual(Object.keys(job({})))
})
