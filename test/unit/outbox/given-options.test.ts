import { expect, test } from 'vitest'
import { Float } from '../../../core/codec/index.ts'
import { givenOptionsRefusal } from '../../../core/outbox/index.ts'
import { targetFrom, targetsOf, targetText } from '../../../core/outbox/outbox-target.ts'

const refusal = (names: string, kwargs: object, allowed: string[]) =>
  givenOptionsRefusal(targetsOf(names, { kwargs }).map(targetText), allowed)

test.each<[string, object, string[]]>([
  ['postgres', {}, []],
  ['postgres', { table: 'x' }, ['postgres']],
  ['postgres', { table: 'x' }, ['postgres.table']],
  ['postgres,http', { table: 'x' }, ['postgres', 'http.*']],
  ['http', { url: 'x' }, ['*']],
])('options of %s that a job sets, %j, are accepted if %j are allowed', (names, kwargs, allowed) => {
  expect(refusal(names, kwargs, allowed)).toBeUndefined()
})

test.each<[string, object, string[], string]>([
  ['rawfile_json', { filename: '/x' }, [], 'rawfile_json.filename'],
  ['postgres', { table: 'x', host: 'y' }, ['postgres.table'], 'postgres.host'],
  ['postgres,http', { url: 'x' }, ['postgres'], 'http.url'],
  ['postgres', { table: 'x' }, ['post', 'table'], 'postgres.table'],
])('options of %s that a job sets, %j, are refused if %j are allowed, with the option to set', (...given) => {
  const [names, kwargs, allowed, refused] = given
  const sentence = refusal(names, kwargs, allowed)
  expect(sentence).toContain(`--return_kwargs set ${refused},`)
  expect(sentence).toContain(`returner_kwargs_allowed: [${refused}]`)
})

test.each([
  { table: 'x', port: 5432, nested: { list: [1, 'a', null, true] } },
  { id: 9007199254740993n, share: new Float(3), bytes: Uint8Array.of(0xff, 0) },
])('options that a job sets are passed on unchanged: %s', (kwargs) => {
  const [target] = targetsOf('postgres', { config: 'alternative', kwargs })
  expect(targetFrom(targetText(target!))).toEqual({ name: 'postgres', config: 'alternative', kwargs })
})

test.each(['{postgres', '{}'])('a returner whose name looks like a map is a name: %s', (name) => {
  const [target] = targetsOf(name)
  expect(targetFrom(targetText(target!))).toEqual({ name })
  expect(refusal(name, {}, [])).toBeUndefined()
})
