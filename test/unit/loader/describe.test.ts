import path from 'node:path'
import { expect, test } from 'vitest'
import type { Log } from '../../../core/author/index.ts'
import { foresee } from '../../../core/loader/check-call.ts'
import { openLoader } from '../../../core/loader/index.ts'
import { readCatalogue } from '../../../core/loader/read-catalogue.ts'

const fixtures = path.resolve(import.meta.dirname, '../../fixtures')
const quiet: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }
const open = (config: object = {}, grains = {}) =>
  openLoader('modules', {
    config: { module_dirs: [fixtures, path.join(fixtures, 'broken')], ...config },
    grains,
    log: quiet,
    timeoutMs: 300,
  })

test('a catalogue has every function that is offered, with its parameters as plain JSON', async () => {
  const { functions } = await open().describe()
  expect(functions['greet.hello']).toEqual({
    who: { kind: 'value', schema: { type: 'string' } },
    times: { kind: 'value', schema: { type: 'integer', minimum: 1 }, optional: true, default: 1 },
  })
  expect(functions['test.ping']).toEqual({})
  expect(Object.keys(functions)).toEqual(expect.arrayContaining(['pkg.list', 'greet.delete', 'sys.doc']))
})

test('what plain functions take is not known', async () => {
  expect((await open().describe()).functions['plain.add']).toBeNull()
})

test('modules that offer nothing are in it with the reason, in the words of the minion', async () => {
  const loader = open({ disable_modules: ['provides', 'plain'] })
  const catalogue = readCatalogue(JSON.stringify(await loader.describe()))!
  for (const fun of ['pkg.install', 'falsy.never', 'throws.now', 'hangs.never', 'plain.add', 'no.such']) {
    expect(foresee({ fun, arg: [] }, catalogue)).toEqual({ refusal: await loader.why(fun) })
  }
  expect(foresee({ fun: 'pkg.install', arg: [] }, catalogue)).toEqual({
    refusal:
      "'pkg' __virtual__ returned False: needs Debian (refuses) Possible reasons: 'provides is disabled: it is listed in disable_modules'",
  })
  expect(foresee({ fun: 'pkg.install', arg: [] }, (await open({}, { os: 'Debian' }).describe())!)).toEqual({
    values: {},
    params: {},
  })
})

test('the stamp of the folders changes with their files', async () => {
  const all = await open().stamp()
  expect(await open().stamp()).toBe(all)
  expect(await open({ module_dirs: [] }).stamp()).not.toBe(all)
})
