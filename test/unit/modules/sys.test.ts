import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { untyped } from '../../../core/author/calls.ts'
import type { Context } from '../../../core/author/index.ts'
import { createContext, openLoader } from '../../../core/loader/index.ts'
import { SLOW } from '../../harness/slow.ts'
import { extensionFolder } from '../loader/folder.ts'
import { fakeContext } from './context.ts'

const folder = extensionFolder()
const loader = openLoader('modules', { config: {}, log: fakeContext().log })

const fileOf = (module: string) => path.resolve(import.meta.dirname, `../../../modules/${module}.ts`)

async function run(name: string, args: unknown[] = [], overrides: Partial<Context> = {}) {
  return createContext(fakeContext(overrides), loader).call(untyped(name), args)
}

describe('lists', () => {
  test(
    'leave out functions and modules of a file that cannot be imported; the log says why',
    SLOW,
    async () => {
      await folder.put('modules/fine.js', 'export const ping = () => true\n')
      const broken = await folder.put(
        'modules/broken.js',
        "import './nosuch.js'\nexport const ping = () => true\n",
      )
      const errors: string[] = []
      const log = { ...fakeContext().log, error: (sentence: string) => void errors.push(sentence) }
      for (const [name, listed] of [
        ['sys.list_functions', ['fine.ping']],
        ['sys.list_modules', ['fine']],
      ] as const) {
        const { call } = createContext(fakeContext(), folder.open({}, { log }))
        const all = (await call(name)) as string[]
        expect(all.filter((one) => /^(fine|broken)/.test(one))).toEqual(listed)
        expect(errors.splice(0)).toEqual([expect.stringContaining(`Failed to load modules: ${broken}`)])
      }
    },
  )
  test('contain modules, all or by glob', SLOW, async () => {
    expect(await run('sys.list_modules')).toEqual(expect.arrayContaining(['sys', 'test']))
    expect(await run('sys.list_modules', ['tes*', 'sys'])).toEqual(['sys', 'test'])
  })
  test('contain functions of a module, or by glob', async () => {
    const functions = await run('sys.list_functions', ['test'])
    expect(functions).toEqual(expect.arrayContaining(['test.ping', 'test.try', 'test.true', 'test.rand_str']))
    expect(functions).toEqual([...(functions as string[])].sort())
    expect(await run('sys.list_functions', ['sys.list_mod*'])).toEqual(['sys.list_modules'])
    expect(await run('sys.list_functions', ['te'])).toEqual([])
  })
  test('contain runners and returners', async () => {
    expect(await run('sys.list_runners', ['tes*'])).toEqual(['test'])
    expect(await run('sys.list_runner_functions', ['test.arg'])).toEqual(['test.arg'])
    expect(await run('sys.list_returners')).toEqual(expect.any(Array))
    expect(await run('sys.returner_doc')).toEqual(expect.any(Object))
    expect(await run('sys.runner_argspec', ['test.sleep'])).toEqual({
      'test.sleep': { args: ['s_time'], defaults: [10], varargs: null, kwargs: null },
    })
  })
})

describe('documentation', () => {
  test('of a function has its examples', async () => {
    expect(await run('sys.doc', ['test.echo'])).toEqual({
      'test.echo':
        "Return a value unchanged.\n\nCLI Example:\n\n    salt '*' test.echo 'foo bar baz quo qux'\n\nParameters:\n\n    text: any value",
    })
  })
  test('of a module, by glob, and of runners', async () => {
    const all = (await run('sys.list_functions', ['test'])) as string[]
    expect(Object.keys((await run('sys.doc', ['test'])) as object)).toEqual(all)
    expect(Object.keys((await run('sys.doc', ['test.p*', 'sys.doc'])) as object)).toEqual(
      expect.arrayContaining(['sys.doc', 'test.ping', 'test.provider']),
    )
    expect(await run('sys.runner_doc', ['test.arg'])).toHaveProperty(['test.arg'])
  })
  test('every function of test and sys is documented with an example', async () => {
    const docs = Object.entries((await run('sys.doc', ['test.*', 'sys.*'])) as Record<string, string | null>)
    expect(docs.filter(([, doc]) => !doc?.includes('CLI Example:')).map(([name]) => name)).toEqual([])
  })
})

test('argspec describes parameters as Salt does', async () => {
  expect(await run('sys.argspec', ['test.raise_exception'])).toEqual({
    'test.raise_exception': { args: ['name'], defaults: null, varargs: true, kwargs: true },
  })
  expect(await run('sys.argspec', ['test.rand_sleep'])).toEqual({
    'test.rand_sleep': { args: ['max'], defaults: [60], varargs: null, kwargs: null },
  })
  expect(await run('sys.argspec', ['slsutil.banner'])).toMatchObject({
    'slsutil.banner': { defaults: [72, '#', '#', null, null, null, null, false] },
  })
  expect(await run('sys.argspec', ['test.p*'])).toHaveProperty(['test.ping'], {
    args: null,
    defaults: null,
    varargs: null,
    kwargs: null,
  })
})

test('reload_modules reloads this process and the minion', async () => {
  let refreshed = 0
  const minion = { refreshModules: async () => ++refreshed > 0 } as unknown as Context['minion']
  expect(await run('sys.reload_modules', [], { minion })).toBeNull()
  expect(refreshed).toBe(1)
  expect(await run('test.ping')).toBe(true)
})

test('why returns where a function or plugin comes from, and schema its parameters', SLOW, async () => {
  expect(await run('sys.why', ['test.ping'])).toEqual({
    name: 'test.ping',
    provided_by: expect.stringMatching(/modules\/test\.ts$/),
    files: { [fileOf('test')]: 'provides it' },
  })
  expect(await run('sys.why', ['nested', 'outputters'])).toHaveProperty('provided_by')
  await expect(run('sys.why', ['x', 'nosuch'])).rejects.toThrow("no kind of extensions called 'nosuch'")
  expect(await run('sys.schema', ['test.echo'])).toMatchObject({
    'test.echo': { type: 'object', required: ['text'], properties: { text: {} } },
  })
})

test('renderers are those of slsutil; there are no states', async () => {
  expect(await run('sys.list_renderers')).toEqual(['jinja', 'json', 'yaml'])
  expect(await run('sys.list_renderers', ['j*'])).toEqual(['jinja', 'json'])
  expect(await run('sys.renderer_doc', ['yaml'])).toEqual({ yaml: expect.any(String) })
  expect(await run('sys.list_state_functions')).toEqual([])
  expect(await run('sys.state_doc')).toEqual({})
})

test('functions of returners are listed with their parameters', async () => {
  expect(await run('sys.list_returner_functions', ['syslog'])).toEqual(['syslog.returner'])
  expect(await run('sys.returner_argspec', ['syslog'])).toEqual({
    'syslog.returner': { args: ['ret'], defaults: null, varargs: null, kwargs: null },
  })
})

test('returners are documented under the names of their functions', async () => {
  const text = expect.stringContaining('Prints returns and events')
  expect(await run('sys.returner_doc', ['local'])).toEqual({ 'local.returner': text })
  expect(await run('sys.returner_doc', ['local.returner'])).toEqual({ 'local.returner': text })
})
