import { describe, expect, test } from 'vitest'
import { encodeNetwork } from '../../../core/codec/index.ts'
import { makeMinionEvent } from '../../../core/wire/minion-event.ts'
import { type JobLoad, readJobLoad } from '../../../core/wire/publication.ts'
import { makeMultiReturn, makeReturn } from '../../../core/wire/return.ts'

const job: JobLoad = {
  fun: 'cmd.run',
  arg: ['ls', { __kwarg__: true, cwd: '/' }],
  tgt: '*',
  jid: '20261121000000000001',
  ret: '',
  tgt_type: 'glob',
  user: 'root',
  metadata: { ticket: 7 },
}
const failed = { return: 'text', retcode: 1, success: false, out: 'nested' }

/** The order of keys is what listeners see and signatures cover: compared with returns of real minions. */
describe('the keys of a return have the order of real minions', () => {
  const head = ['cmd', 'id', 'success', 'return']
  const tail = ['jid', 'fun', 'fun_args', 'user', 'metadata']

  test("the function's own outputter is last", () => {
    const ret = makeReturn(job, 'web1', { return: 1, retcode: 0, success: true, out: 'txt' })
    expect(Object.keys(ret)).toEqual([...head, 'retcode', ...tail, 'out'])
  })

  test('the outputter of a missing function follows the retcode', () => {
    const ret = makeReturn(job, 'web1', { ...failed, failure: 'missing' })
    expect(Object.keys(ret)).toEqual([...head, 'retcode', 'out', ...tail])
  })

  test('the outputter of an error precedes it', () => {
    const ret = makeReturn(job, 'web1', { ...failed, failure: 'error' })
    expect(Object.keys(ret)).toEqual([...head, 'out', 'retcode', ...tail])
  })

  test('several functions return maps, and no outputter', () => {
    const ret = makeMultiReturn({ ...job, fun: ['a.b'], arg: [[]] }, 'web1', [['a.b', failed]], false)
    expect(Object.keys(ret)).toEqual(['cmd', 'id', 'return', 'retcode', 'success', ...tail])
  })
})

test('fun_args shows keyword arguments without their marker', () => {
  const ret = makeReturn(job, 'web1', failed)
  expect(ret.fun_args).toEqual(['ls', { cwd: '/' }])
})

test('a job keeps the order of its keys, and missing ones are added at the end', () => {
  const { ret, tgt_type, ...published } = job
  expect(Object.keys(readJobLoad(job)!)).toEqual(Object.keys(job))
  expect(Object.keys(readJobLoad(published)!)).toEqual([...Object.keys(published), 'ret', 'tgt_type'])
})

describe('an event of a minion', () => {
  test('has its keys in the order of real minions', () => {
    const event = makeMinionEvent('web1', { tag: 'my/tag', data: { a: 1 } }, { grains: { os: 'Debian' } })
    expect(Object.keys(event)).toEqual(['id', 'cmd', 'pretag', 'data', 'tag', 'grains'])
    expect(event).toMatchObject({ id: 'web1', cmd: '_minion_event', pretag: null })
  })

  test('can be sent with others, under a common prefix of their tags', () => {
    const event = makeMinionEvent('web1', { events: [{ tag: 't', data: {} }] }, { pretag: 'pre' })
    expect(event).toEqual({
      id: 'web1',
      cmd: '_minion_event',
      pretag: 'pre',
      events: [{ tag: 't', data: {} }],
    })
    expect(encodeNetwork(event)).toBeInstanceOf(Buffer)
  })
})
