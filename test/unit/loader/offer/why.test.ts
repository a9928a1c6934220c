import path from 'node:path'
import { expect, test } from 'vitest'
import { spyLog } from '../../../harness/log.ts'
import { SLOW } from '../../../harness/slow.ts'
import { extensionFolder } from '../folder.ts'

const folder = extensionFolder()
const { put, open } = folder

const serving = (name: string, rest: string) => `export const virtualName = '${name}'\n${rest}\n`

test('every file that could provide a function is listed with what it does', SLOW, async () => {
  const first = await put('modules/a_apt.js', serving('wares', 'export const install = () => 1'))
  const second = await put('modules/b_second.js', serving('wares', 'export const install = () => 1'))
  const other = await put('modules/c_other.js', serving('wares', 'export const hold = () => 1'))
  const refusing = await put('modules/d_yum.js', serving('wares', "export const virtual = 'needs yum'"))
  const silent = await put('modules/e_none.js', serving('wares', 'export const virtual = false'))
  const lacking = await put(
    'modules/f_lacks.js',
    serving(
      'wares',
      "export const dependsOn = { binary: 'nosuch', functions: ['install'] }\nexport const install = () => 1",
    ),
  )
  const disabled = await put('modules/g_off.js', serving('wares', 'export const install = () => 1'))
  const broken = await put('modules/wares.js', '\nexport const = 1\n')
  const hidden = await put('last/wares.js', 'export const install = () => 1\n')
  const loader = open({
    module_dirs: [path.join(folder.path, 'last'), folder.path],
    disable_modules: ['g_off'],
  })
  expect(await loader.view.why('wares.install')).toEqual({
    name: 'wares.install',
    provided_by: first,
    files: {
      [broken]: `cannot be loaded: ${broken}:2: SyntaxError: Unexpected token '='`,
      [first]: 'provides it',
      [second]: `has it, too, but ${first} comes first`,
      [other]: 'serves this module, but offers no wares.install',
      [refusing]: 'is not offered: needs yum',
      [silent]: 'is not offered: its virtual is false, without a reason',
      [lacking]: "has it, but it needs the program 'nosuch', which is not in PATH",
      [disabled]: 'is disabled: it is listed in disable_modules',
      [hidden]: `is hidden by ${broken}, which has the same name and comes first`,
    },
  })
})

test('a module, a plugin, and a file that is offered under another name', SLOW, async () => {
  const apt = await put('modules/apt.js', serving('wares', 'export const install = () => 1'))
  const loader = open()
  expect(await loader.view.why('wares')).toMatchObject({ provided_by: apt, files: { [apt]: 'provides it' } })
  expect(await loader.view.why('apt.install')).toMatchObject({
    provided_by: null,
    files: { [apt]: 'is offered as wares' },
  })
  const nested = await loader.view.of('outputters')?.why('nested')
  expect(nested?.provided_by).toMatch(/plugins\/outputters\/nested\.ts$/)
})

test('a missing name is reported, with a suggestion', SLOW, async () => {
  await put('modules/web.js', 'export const reload = () => 1\n')
  const { view } = open()
  expect(await view.why('web.relaod')).toMatchObject({
    provided_by: null,
    advice: 'There is no web.relaod; did you mean web.reload?',
  })
  expect((await view.why('qqqqqq.zzzzzz')).advice).toBe("No file has the name 'qqqqqq' or declares it")
  expect(await open({ whitelist_modules: ['test'] }).view.why('web.reload')).toMatchObject({
    provided_by: null,
    advice: 'web is not in whitelist_modules',
  })
})

const plain = 'export const other = () => 1\n'

test.each([
  [
    'a default export of functions',
    'export default { ping: () => 1 }',
    "its default export is not offered; export each function by its name: 'export const ping = fn(…)'",
  ],
  [
    'a default export beside others',
    `${plain}export default { ping: () => 1 }`,
    "its default export is not offered; export each function by its name: 'export const ping = fn(…)'",
  ],
  [
    'a default export that is the function',
    'export default function ping() {}',
    "its default export is not offered; export each function by its name: 'export const ping = fn(…)'",
  ],
  [
    'a map of functions',
    'export const all = { ping: () => 1 }',
    "what 'all' holds is not offered; export each function by its name: 'export const ping = fn(…)'",
  ],
  [
    'a list of functions',
    'const ping = () => 1\nexport const all = [ping]',
    "what 'all' holds is not offered; export each function by its name: 'export const ping = fn(…)'",
  ],
  [
    'a function that load leaves out',
    `${plain}export const ping = () => 1\nexport const load = [other]`,
    "it exports 'ping', but does not list it in 'load'",
  ],
  [
    'an export that is no function',
    'export const ping = 5',
    "it exports 'ping', but that is a number and no function; export a function: 'export const ping = fn(…)'",
  ],
  [
    'a default export without a name',
    "import { fn } from 'salt-ts'\nexport default fn(() => 1)",
    "its default export is not offered; export each function by its name: 'export const NAME = fn(…)'",
  ],
])('%s is explained with what to write, and without contradictions', async (_, text, sentence) => {
  const file = await put('modules/shop.js', `${text}\n`)
  const loader = open()
  expect(await loader.get('shop.ping')).toBeUndefined()
  expect(await loader.why('shop.ping')).toBe(
    `'shop.ping' is not available. Possible reasons: '${file}: ${sentence}'`,
  )
  expect(await loader.view.why('shop.ping')).toEqual({
    name: 'shop.ping',
    provided_by: null,
    files: { [file]: `serves this module, but offers no shop.ping: ${sentence}` },
  })
})

test('a file without functions provides no module', async () => {
  const file = await put('modules/shop.js', 'export default { ping: () => 1 }\n')
  expect(await open().view.why('shop')).toMatchObject({
    provided_by: null,
    files: {
      [file]: expect.stringMatching(/^serves this module, but offers no function: its default export/),
    },
  })
})

test('exports that are no functions are not reported as mistakes', async () => {
  const file = await put('modules/shop.js', `${plain}export const helpers = { ping: () => 1 }\n`)
  expect(await open().view.why('shop.pong')).toMatchObject({
    files: { [file]: 'serves this module, but offers no shop.pong' },
  })
})

test('a file written in Python is named, with a link to the guide for rewriting it', async () => {
  const python = await put('modules/hello.py', 'def world(): return 1\n')
  const loader = open()
  const { files, advice } = await loader.view.why('hello.world')
  expect(files).toEqual({
    [python]:
      'is ignored: Python modules are not supported; docs/from-python.md of salt-ts explains how to rewrite them in TypeScript',
  })
  expect(advice).toBeUndefined()
  expect(await loader.why('hello.world')).toContain(
    `'hello.world' is not available. Possible reasons: '${python}: `,
  )
})

test('a folder that cannot be read is named in the log, and with what is missing; an absent one is not', async () => {
  const file = await put('modules', 'no folder\n')
  const log = spyLog()
  const loader = open({ module_dirs: [folder.path, path.join(folder.path, 'absent')] }, { log })
  const clause = `the folder cannot be read: a part of its path is a file, not a folder (${file})`
  expect((await loader.view.why('web.reload')).advice).toBe(
    `No file has the name 'web' or declares it; ${clause}`,
  )
  expect(await loader.why('web.reload')).toBe(`'web.reload' is not available. Possible reasons: '${clause}'`)
  expect(log.warn.mock.calls).toEqual([[`Extensions may be missing: ${clause}.`]])
})
