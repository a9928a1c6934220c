import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { SyncRequest } from '../../../core/author/files.ts'
import { localFileServer, openFileClient, syncExtensions } from '../../../core/fileserver/index.ts'
import { extensionNameOf, isSynced } from '../../../core/fileserver/sync/names.ts'
import { openLoader, PYTHON_NOT_SUPPORTED } from '../../../core/loader/index.ts'
import { FileRoots } from '../../harness/file-roots.ts'
import { quietLog } from '../../harness/log.ts'

process.execArgv.length = 0 // what loads files runs what was built, without the test runner's conditions

let roots: FileRoots
const log = quietLog

beforeEach(async () => {
  roots = await FileRoots.make()
})
afterEach(() => roots.remove())

const extmods = (...path: string[]) => join(roots.folder, 'extmods', ...path)

async function sync(
  request: SyncRequest = {},
  options: Readonly<Record<string, unknown>> = {},
  limits: { readonly loadMs?: number } = {},
) {
  const file_roots = { base: [roots.base], dev: [join(roots.folder, 'dev')] }
  const config = roots.config({ file_roots, extension_modules: extmods(), ...options })
  const files = openFileClient({ ask: localFileServer(config, log).ask, cachedir: config.cachedir })
  return syncExtensions({ types: ['modules'], ...request }, { files, config, log, role: 'minion', ...limits })
}
const lines = async (...given: Parameters<typeof sync>) => (await sync(...given)).modules?.lines
const source = (name: string, text: string) => roots.write(`salt/_modules/${name}`, text)
const hello = (text: string) => `export const hello = () => '${text}'\n`

describe('a sync', () => {
  test('reports added, changed and removed extensions, and the reason for those that cannot be loaded', async () => {
    await source('hello.js', hello('1'))
    await source('other.js', hello('1'))
    expect(await lines()).toEqual(['modules.hello', 'modules.other'])
    expect(await lines()).toEqual([])
    await source('hello.js', hello('2'))
    await rm(join(roots.base, '_modules', 'other.js'))
    await source('bad.js', 'export const x = 1\nexport const = 2\n')
    const failed = `${extmods('modules', 'bad.js')}:2: SyntaxError: Unexpected token '='`
    const report = await sync()
    expect(report.modules).toEqual({
      added: ['modules.bad'],
      changed: ['modules.hello'],
      removed: ['modules.other'],
      failed: { 'modules.bad': expect.stringContaining(failed.split(':')[0]!) },
      lines: expect.arrayContaining(['modules.bad', 'modules.hello', 'modules.other (removed)']),
    })
    expect(report.modules?.lines.at(-1)).toMatch(/^modules\.bad \(failed to load: .*bad\.js:2: SyntaxError/)
    expect(await lines()).toEqual([expect.stringMatching(/^modules\.bad \(failed to load/)])
    await source('bad.js', hello('repaired'))
    expect(await lines()).toEqual(['modules.bad'])
    expect(await readFile(extmods('modules', 'hello.js'), 'utf8')).toBe(hello('2'))
  })

  test('copies helpers, folders and npm packages, readable by their owner only', async () => {
    await source(
      'hello.ts',
      "import { pad } from 'pad'\nimport { a } from './lib/a.ts'\nexport const hello = () => pad(a)\n",
    )
    await source('lib/a.ts', "import { b } from '../_b.ts'\nexport const a = b\n")
    await source('_b.ts', 'export const b = 1\n')
    await source('data.json', '{}')
    await source('package.json', '{"type":"module"}')
    await source('node_modules/pad/package.json', '{"name":"pad","type":"module","main":"index.js"}')
    await source('node_modules/pad/index.js', 'export const pad = (x) => x\n')
    await source('node_modules/.bin/pad', '#!/bin/sh\n')
    await source('node_modules/@scope/x/a.zip', 'zip')
    const report = await sync()
    expect(report.modules?.failed).toEqual({})
    expect(report.modules?.added).toEqual([
      'modules._b',
      'modules.data',
      'modules.hello',
      'modules.lib.a',
      'modules.node_modules.@scope/x',
      'modules.node_modules.pad',
      'modules.package',
    ])
    expect(await readdir(extmods('modules', 'node_modules'))).toEqual(['@scope', 'pad'])
    expect((await stat(extmods('modules', '_b.ts'))).mode & 0o777).toBe(0o600)
  })

  test('names extensions that replace a built-in module', async () => {
    await source('cmd.js', 'export const run = () => 1\n')
    await source('shop.js', hello('1'))
    const warned: string[] = []
    const spy = vi.spyOn(log, 'warn').mockImplementation((line) => void warned.push(line))
    const sentence = `${extmods('modules', 'cmd.js')} is used instead of the built-in cmd of the modules, and lacks`
    expect((await sync()).modules).toMatchObject({
      lines: [
        expect.stringContaining(`modules.cmd (${sentence} some of its functions: cmd.`),
        'modules.shop',
      ],
      warnings: [expect.stringContaining(sentence)],
    })
    expect(warned).toEqual([expect.stringContaining(`Synced modules.cmd: ${sentence}`)])
    expect(await lines()).toEqual([])
    spy.mockRestore()
  })

  test('warns of mistakes in changed files, which work otherwise', async () => {
    const warned: string[] = []
    const spy = vi.spyOn(log, 'warn').mockImplementation((line) => void warned.push(line))
    await source('till.js', "\nexport const sum = (_, { call }) => call('no.such')\n")
    const warning = `${extmods('modules', 'till.js')}:2: There is no function 'no.such' here`
    expect((await sync()).modules).toMatchObject({
      failed: {},
      lines: ['modules.till'],
      warnings: [expect.stringContaining(warning)],
    })
    expect(warned).toEqual([expect.stringContaining(`Synced modules: ${warning}`)])
    await source('shop.js', hello('1'))
    expect((await sync()).modules).not.toHaveProperty('warnings')
    spy.mockRestore()
  })

  test('leaves files in Python to a Python minion, and does not remove them', async () => {
    for (const name of ['p.py', 'p.pyc', 'p.so', 'p.zip', '__pycache__/p.x']) await source(name, 'python')
    await mkdir(extmods('modules'), { recursive: true })
    await roots.write('extmods/modules/mine.py', 'python')
    const warned: string[] = []
    const spy = vi.spyOn(log, 'warn').mockImplementation((line) => void warned.push(line))
    const sentence = `salt://_modules/p.py: ${PYTHON_NOT_SUPPORTED}`
    expect(await lines()).toEqual([sentence])
    expect(await readdir(extmods('modules'))).toEqual(['mine.py'])
    expect(await lines()).toEqual([])
    expect(warned).toEqual([sentence])
    const loader = openLoader('modules', { config: { extension_modules: extmods() }, log })
    expect(await loader.why('p.q')).toBe(`'p.q' is not available. Possible reasons: '${sentence}'`)
    spy.mockRestore()
  })

  test('does not warn of Python modules that exist in TypeScript, too', async () => {
    await source('p.py', 'python')
    await source('p.js', hello('1'))
    expect(await lines()).toEqual(['modules.p'])
    expect(await lines()).toEqual([])
  })

  test('takes a file from the last environment that has it', async () => {
    await source('hello.js', hello('base'))
    await roots.write('dev/_modules/hello.js', hello('dev'))
    await roots.write('dev/_modules/only.js', hello('dev'))
    expect(await lines({ saltenv: 'base,dev' })).toEqual(['modules.hello', 'modules.only'])
    expect(await readFile(extmods('modules', 'hello.js'), 'utf8')).toBe(hello('dev'))
    expect(await lines({ saltenv: ['dev', 'base'] })).toEqual(['modules.hello'])
    expect(await lines({}, { saltenv: 'dev' })).toEqual(['modules.hello'])
    expect(await lines({ saltenv: 'nothing' })).toEqual(['modules.hello (removed)', 'modules.only (removed)'])
  })

  test.each<[Pick<SyncRequest, 'whitelist' | 'blacklist'>, string[]]>([
    [{ whitelist: 'hello' }, ['modules._helper', 'modules.hello']],
    [{ whitelist: ['hello', 'lib'] }, ['modules._helper', 'modules.hello', 'modules.lib.x']],
    [{ whitelist: { modules: ['other'] } }, ['modules._helper', 'modules.other']],
    [{ whitelist: { modules: [] } }, ['modules._helper']],
    [
      { whitelist: { grains: ['x'] } },
      ['modules._helper', 'modules.hello', 'modules.lib.x', 'modules.other'],
    ],
    [{ blacklist: 'hello, lib' }, ['modules._helper', 'modules.other']],
    [{ blacklist: { modules: '_helper' } }, ['modules.hello', 'modules.lib.x', 'modules.other']],
  ])('keeps to the lists %j', async (lists, expected) => {
    for (const name of ['hello.js', 'other.js', '_helper.js', 'lib/x.js'])
      await source(name, 'export const a = 1\n')
    expect((await sync(lists)).modules?.added).toEqual(expected)
    await rm(extmods(), { recursive: true })
    const options = { extmod_whitelist: lists.whitelist ?? {}, extmod_blacklist: lists.blacklist ?? {} }
    expect((await sync({}, options)).modules?.added).toEqual(expected)
  })

  test('removes nothing with clean_dynamic_modules: false, or if the file server does not answer', async () => {
    await source('hello.js', hello('1'))
    await sync()
    await rm(join(roots.base, '_modules'), { recursive: true })
    expect(await lines({}, { clean_dynamic_modules: false })).toEqual([])
    const config = roots.config({ extension_modules: extmods() })
    const files = openFileClient({
      ask: () => Promise.reject(new Error('away')),
      cachedir: config.cachedir,
    })
    await expect(syncExtensions({}, { files, config, log, role: 'minion' })).rejects.toThrow('away')
    expect(await readdir(extmods('modules'))).toEqual(['hello.js'])
    expect(await lines()).toEqual(['modules.hello (removed)'])
  })

  test.each([
    ['modules', 'for (;;);', 'blocked its process for 2 s while it was loaded'],
    ['grains', 'for (;;);', 'blocked its process for 2 s while it was loaded'],
    ['modules', 'process.exit(3)', 'its process ended with exit code 3 while it was loaded'],
  ])(
    'names a file of %s that does not end, or ends its process (%s), and loads the others',
    async (type, line, why) => {
      await roots.write(`salt/_${type}/a.js`, `${line}\n`)
      await roots.write(`salt/_${type}/b.js`, 'export default { collect: () => ({}) }\n')
      await roots.write(`salt/_${type}/c.js`, 'export const = 1\n')
      const { added, failed } = (await sync({ types: [type] }, {}, { loadMs: 2000 }))[type]!
      expect(added).toEqual(['a', 'b', 'c'].map((name) => `${type}.${name}`))
      expect(Object.keys(failed).sort()).toEqual([`${type}.a`, `${type}.c`])
      expect(failed[`${type}.a`]).toContain(`${extmods(type, 'a.js')}: ${why}`)
      expect(failed[`${type}.c`]).toContain('SyntaxError')
    },
  )

  describe('from a file server that fails', () => {
    const failing = async (fail: (load: Readonly<Record<string, unknown>>) => unknown, request = {}) => {
      const config = roots.config({ extension_modules: extmods() })
      const { ask } = localFileServer(config, log)
      const files = openFileClient({
        ask: async (load) => fail(load) ?? ask(load),
        cachedir: config.cachedir,
      })
      const settings = { files, config, log, role: 'minion' } as const
      return syncExtensions({ types: ['modules'], ...request }, settings)
    }
    beforeEach(async () => {
      for (const name of ['a.js', 'b.js', 'c.js']) await source(name, hello('1'))
      await sync()
    })

    test('removes nothing if the list is an error of the master', async () => {
      await expect(failing(() => '')).rejects.toThrow('could not list its files')
      await expect(sync({}, { file_ignore_regex: '(' })).rejects.toThrow('cannot open its backend roots')
      expect(await readdir(extmods('modules'))).toHaveLength(3)
    })

    test('keeps a file that is listed and not served, reports it, and copies the others', async () => {
      for (const name of ['a.js', 'c.js', 'new.js']) await source(name, hello('2'))
      const { modules } = await failing(({ path }) => (path === '_modules/a.js' ? '' : undefined))
      const reason =
        'the file server lists salt://_modules/a.js, but does not serve it; see the log of the master'
      expect(modules).toEqual({
        added: ['modules.new'],
        changed: ['modules.c'],
        removed: [],
        failed: { 'modules.a': reason },
        lines: ['modules.c', 'modules.new', `modules.a (kept unchanged: ${reason})`],
      })
      expect(await readFile(extmods('modules', 'a.js'), 'utf8')).toBe(hello('1'))
      expect(await readFile(extmods('modules', 'c.js'), 'utf8')).toBe(hello('2'))
    })

    test('does not wait for it again with each file, once it has not answered', async () => {
      for (let count = 0; count < 50; count++) await source(`lib/${count}.js`, hello('1'))
      let asked = 0
      const { modules } = await failing(({ cmd }) => {
        if (cmd !== '_file_hash') return undefined
        asked++
        throw new Error('no answer within 60 s')
      })
      expect(Object.keys(modules?.failed ?? {})).toHaveLength(53)
      expect(modules?.failed['modules.a']).toBe('The file server did not answer: no answer within 60 s')
      expect(asked).toBe(8)
      expect(await readdir(extmods('modules'))).toHaveLength(3)
    })

    test('removes files that are no longer listed, even if another file cannot be written', async () => {
      await rm(join(roots.base, '_modules', 'b.js'))
      await source('a.js', hello('2'))
      const { modules } = await failing(({ cmd, path }) =>
        cmd === '_serve_file' && path === '_modules/a.js' ? {} : undefined,
      )
      expect(modules).toMatchObject({ removed: ['modules.b'], failed: { 'modules.a': expect.any(String) } })
    })
  })

  test('never exposes a file that is half written', async () => {
    const text = (size: number) => `export const a = '${'x'.repeat(size)}'\n`
    await source('big.js', text(500_000))
    await sync()
    let isRunning = true
    const sizes = new Set<number>()
    const watching = (async () => {
      while (isRunning) {
        sizes.add((await readFile(extmods('modules', 'big.js'))).length)
        await setTimeout(1) // leaves the processor to the sync
      }
    })()
    for (let count = 1; count <= 6; count++) {
      await source('big.js', text(500_000 + count * 1000))
      await sync()
    }
    isRunning = false
    await watching
    expect([...sizes].filter((size) => (size - text(500_000).length) % 1000 !== 0)).toEqual([])
  })

  test('puts a file where a folder was, and a folder where a file was', async () => {
    await source('a/index.js', hello('folder'))
    await sync()
    await rm(join(roots.base, '_modules', 'a'), { recursive: true })
    await source('a', 'file')
    await sync()
    expect(await readFile(extmods('modules', 'a'), 'utf8')).toBe('file')
    await rm(join(roots.base, '_modules', 'a'))
    await source('a/index.js', hello('folder'))
    await sync()
    expect(await readdir(extmods('modules', 'a'))).toEqual(['index.js'])
  })

  test('of all types loads extensions when all files are in place', async () => {
    await source('hello.js', "export { hello } from '../utils/shared.js'\n")
    await roots.write('salt/_utils/shared.js', hello('shared'))
    const report = await sync({ types: ['modules', 'utils'] })
    expect(report.modules?.lines).toEqual(['modules.hello'])
    expect(report.utils?.lines).toEqual(['utils.shared'])
  })

  test('of an unknown type lists the valid ones', async () => {
    await expect(sync({ types: ['modlues'] })).rejects.toThrow(
      /no type of extension 'modlues'.* modules, output, /,
    )
  })

  test('of types that only Salt loads copies the files, without loading them', async () => {
    const types = ['beacons', 'states', 'renderers', 'tops', 'pillar', 'job_caches']
    expect(Object.values(await sync({ types })).map(({ lines }) => lines)).toEqual(types.map(() => []))
    await roots.write('salt/_states/broken.js', 'this is no JavaScript\n')
    expect((await sync({ types: ['states'] })).states?.lines).toEqual(['states.broken'])
  })

  test('of all types accepts both names of outputters', async () => {
    await roots.write('salt/_output/a.js', 'export default { render: () => "" }\n')
    await roots.write('salt/_outputters/b.js', 'export default { render: () => "" }\n')
    const { types: _, ...all } = { types: [] }
    const report = await sync({ ...all, types: ['outputters'] })
    expect(report.output?.added).toEqual(['output.a', 'output.b'])
  })
})

test.each([
  ['hello.ts', 'hello'],
  ['sub/helper.d.ts', 'sub.helper'],
  ['node_modules/a/lib/x.js', 'node_modules.a'],
  ['node_modules/@s/a/x.js', 'node_modules.@s/a'],
  ['sub/node_modules/a/x.js', 'sub.node_modules.a'],
  ['.hidden', '.hidden'],
])('%s has the name %s', (path, name) => {
  expect(extensionNameOf(path)).toBe(name)
})

test('temporary files and files of a package manager are not synced', () => {
  expect(['a.ts', 'node_modules/x/a.so', 'x.node'].every(isSynced)).toBe(true)
  expect(['a.py', 'a.so', 'node_modules/.bin/x', '.tmp-0123', 'sub/.tmp-1'].some(isSynced)).toBe(false)
})
