import { expect, test } from 'vitest'
import { CallChecks } from '../../../../core/master/preflight/call-checks.ts'
import { readCallCheckReport } from '../../../../core/wire/catalogue.ts'

type Heard = [string, readonly (string | null)[]]

test('two checks of one minion at once get an answer each, and none after they have ended', () => {
  const verdicts = new CallChecks()
  const heard: Record<string, Heard[]> = { a: [], b: [] }
  const close = ['a', 'b'].map((jid) =>
    verdicts.open({ jid, ids: ['web1'], calls: 1 }, (id, refusals) => heard[jid]!.push([id, refusals])),
  )
  verdicts.report('web1', { jid: 'a', refusals: ['no'] })
  verdicts.report('web1', { jid: 'b', refusals: [null] })
  for (const end of close) end()
  verdicts.report('web1', { jid: 'a', refusals: ['late'] })
  expect(heard).toEqual({ a: [['web1', ['no']]], b: [['web1', [null]]] })
})

test('only answers of asked minions count, once, with as many results as there were calls', () => {
  const heard: Heard[] = []
  const verdicts = new CallChecks()
  verdicts.open({ jid: 'a', ids: ['web1'], calls: 1 }, (...answer) => heard.push(answer))
  verdicts.report('web2', { jid: 'a', refusals: ['no'] })
  verdicts.report('web1', { jid: 'a', refusals: ['no', 'no'] })
  verdicts.report('web1', { jid: 'a', refusals: ['no'] })
  verdicts.report('web1', { jid: 'a', refusals: [null] })
  expect(heard).toEqual([['web1', ['no']]])
})

test('an answer to a check of another worker is passed on to it', () => {
  const heard: Heard[] = []
  const waiting = new CallChecks()
  waiting.open({ jid: 'a', ids: ['web1'], calls: 1 }, (...answer) => heard.push(answer))
  const other = new CallChecks((id, verdict) => waiting.deliver(id, verdict))
  other.report('web1', { jid: 'a', refusals: ['no'] })
  expect(heard).toEqual([['web1', ['no']]])
})

test('an answer is limited in size', () => {
  expect(readCallCheckReport({ jid: 'a', refusals: ['x'.repeat(5000), 7] })).toEqual({
    jid: 'a',
    refusals: ['x'.repeat(1000), null],
  })
  expect(readCallCheckReport({ jid: 'a', refusals: Array.from({ length: 101 }, () => 'no') })).toBeUndefined()
})
