import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { predictCall } from '../../../../core/loader/calls/check-call.ts'
import { readCatalogue } from '../../../../core/loader/describe/read-catalogue.ts'
import { openLoader } from '../../../../core/loader/index.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { quietLog } from '../../../harness/log.ts'
import { SLOW } from '../../../harness/slow.ts'

const fixtures = path.resolve(import.meta.dirname, '../../../fixtures')
const open = (config: object = {}, grains = {}) =>
  openLoader('modules', {
    config: { module_dirs: [fixtures, path.join(fixtures, 'broken')], ...config },
    grains,
    log: quietLog,
    timeoutMs: 300,
  })

test('a catalogue has every available function, with its parameters as plain JSON', SLOW, async () => {
  const { functions } = await open().describe()
  expect(functions['greet.hello']).toEqual({
    who: { kind: 'value', schema: { type: 'string' } },
    times: { kind: 'value', schema: { type: 'integer', minimum: 1 }, optional: true, default: 1 },
  })
  expect(functions['test.ping']).toEqual({})
  expect(Object.keys(functions)).toEqual(expect.arrayContaining(['pkg.list', 'greet.delete', 'sys.doc']))
})

test('the parameters of plain functions are unknown', SLOW, async () => {
  expect((await open().describe()).functions['plain.add']).toBeNull()
})

test(
  'modules that provide nothing are listed with the reason, in the words of the minion',
  SLOW,
  async () => {
    const loader = open({ disable_modules: ['provides', 'plain'] })
    const catalogue = readCatalogue(JSON.stringify(await loader.describe()))!
    for (const fun of ['pkg.install', 'falsy.never', 'throws.now', 'hangs.never', 'plain.add', 'no.such']) {
      expect(predictCall({ fun, arg: [] }, catalogue)).toEqual({ refusal: await loader.why(fun) })
    }
    expect(predictCall({ fun: 'pkg.install', arg: [] }, catalogue)).toEqual({
      refusal: expect.stringMatching(
        /^'pkg' __virtual__ returned False: .*needs Debian \(refuses\) Possible reasons: 'provides is disabled: it is listed in disable_modules'$/,
      ),
    })
    expect(
      predictCall(
        { fun: 'pkg.install', arg: [] },
        readCatalogue(JSON.stringify(await open({}, { os: 'Debian' }).describe()))!,
      ),
    ).toEqual({
      values: {},
      params: {},
    })
  },
)

describe('by their text', () => {
  let folder: string
  let ran: string
  beforeEach(async () => {
    folder = await temporaryFolder('salt-ts-text-')
    ran = path.join(folder, 'ran')
    await mkdir(path.join(folder, 'modules'))
  })
  afterEach(() => removeFolder(folder))

  const head = () => `import { appendFileSync } from 'node:fs'\nappendFileSync(${JSON.stringify(ran)}, 'x')\n`
  const module = (name: string, text: string) => writeFile(path.join(folder, 'modules', name), head() + text)
  const describeText = () =>
    openLoader('modules', { config: { module_dirs: [folder] }, log: quietLog }).describe(false)

  test(
    'functions of users are listed without importing their files, with unknown parameters',
    SLOW,
    async () => {
      await module(
        'shop.ts',
        `import { fn, p } from 'salt-ts'\nexport const buy = fn({ item: p.string() }, () => true)\nexport const _own = () => 1\n`,
      )
      await module('plain.mjs', 'export function add(a, b) { return a + b }\n')
      await module('gated.mjs', 'export const virtual = () => false\nexport const run = () => 1\n')
      await module('named.mjs', `export const virtualName = 'other'\nexport const run = () => 1\n`)
      const { functions } = await describeText()
      const own = Object.entries(functions).filter(([name]) => /^(shop|plain|gated|named|other)\./.test(name))
      expect(own).toEqual([
        ['gated.run', null],
        ['other.run', null],
        ['plain.add', null],
        ['shop.buy', null],
      ])
      expect(functions['test.ping']).toEqual({})
      expect(existsSync(ran)).toBe(false)
    },
  )

  test('functions that may have secret parameters are marked as such', SLOW, async () => {
    await module(
      'vault.ts',
      `import { fn, p } from 'salt-ts'\nexport const open = fn({ key: p.secret(p.string()) }, () => true)\n`,
    )
    await module(
      'helped.ts',
      `import { params } from './vault-params.ts'\nexport const open = fn(params, () => true)\n`,
    )
    const catalogue = readCatalogue(JSON.stringify(await describeText()))
    expect([...(catalogue?.unreadable ?? [])].sort()).toEqual(['helped.open', 'vault.open'])
    expect(catalogue?.functions['vault.open']).toBeNull()
  })

  test('a file whose functions cannot be read from its text is left out', SLOW, async () => {
    await module('dynamic.cjs', 'module.exports = { run: () => 1 }\n')
    expect(
      Object.keys((await describeText()).functions).filter((name) => name.startsWith('dynamic')),
    ).toEqual([])
    expect(existsSync(ran)).toBe(false)
  })

  test('a file of a user that replaces a built-in one is listed instead of it', SLOW, async () => {
    await module('test.mjs', 'export const mine = () => 1\n')
    const names = Object.keys((await describeText()).functions).filter((name) => name.startsWith('test.'))
    expect(names).toEqual(['test.mine'])
  })
})

test('the stamp of the folders changes with their files', async () => {
  const all = await open().stamp()
  expect(await open().stamp()).toBe(all)
  expect(await open({ module_dirs: [] }).stamp()).not.toBe(all)
})
