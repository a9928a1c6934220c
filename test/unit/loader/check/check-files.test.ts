import { basename } from 'node:path'
import { expect, test } from 'vitest'
import type { KindName } from '../../../../core/loader/kinds.ts'
import { SLOW } from '../../../harness/slow.ts'
import { extensionFolder } from '../folder.ts'

const folder = extensionFolder()

const HEAD = "import { fn, p } from 'salt-ts'\n"

/** Write a file, and return what is found in it as `line:column rule`, or `file:line:column rule` for other files. */
async function check(text: string, name = 'modules/shop.ts', kind: KindName = 'modules') {
  const path = await folder.put(name, text)
  const found = await folder.open({}, {}, kind).check([path])
  return found.map(({ file, line, column, rule }) => {
    const place = `${line}:${column} ${rule}`
    return file === path ? place : `${basename(file)}:${place}`
  })
}

async function messages(
  text: string,
  name = 'modules/shop.ts',
  kind: KindName = 'modules',
): Promise<string[]> {
  const path = await folder.put(name, text)
  return (await folder.open({}, {}, kind).check([path])).map(({ message }) => message)
}

const CLEAN = `/** The shop. */
import { fn, p } from 'salt-ts'

/**
 * Return the version.
 *
 * @example salt '*' shop.version
 * @example salt '*' shop.version lines=3
 */
export const version = fn(
  { dir: p.default(p.string(), 'shop'), lines: p.optional(p.integer()), token: p.secret(p.optional(p.string())) },
  async ({ dir }, { call }) => call('cmd.run', { cmd: ['cat', \`\${dir}/VERSION\`] }),
)
// process.exit() in a comment, and call('no.such') in one, are not code.
export const text = fn(() => 'process.exit(1)')
`

test('a file without mistakes has no findings', SLOW, async () => {
  expect(await check(CLEAN)).toEqual([])
})

test.each<[what: string, text: string, found: string[]]>([
  ['a default export of a function', `${HEAD}export default fn(() => 1)\n`, ['2:1 default-export']],
  [
    'a default export of functions',
    'const ping = () => 1\nexport default { ping }\n',
    ['2:1 default-export'],
  ],
  ['no export', 'const ping = () => 1\n', ['1:1 nothing-offered']],
  ['only values', '\nexport const size = 3\n', ['2:1 nothing-offered']],
  ['a list of exports that are not there', "export const load = ['ping']\n", ['1:1 nothing-offered']],
  [
    'the name of a function with _',
    `${HEAD}const remove = fn(() => 1)\nexport { remove as delete_ }\n`,
    ['2:1 trailing-underscore'],
  ],
  [
    'a virtual name that a built-in module has',
    "export const virtualName = 'cmd'\nexport const ping = () => 1\n",
    ['1:1 hides-built-in'],
  ],
  [
    'a call of nothing',
    `${HEAD}export const a = fn(async (_, { call }) =>\n  call('cmd.runn', { cmd: 'id' }),\n)\n`,
    ['3:8 unknown-call'],
  ],
  [
    'a dependency on nothing',
    "export const dependsOn = [\n  { function: 'no.such' },\n]\nexport const a = () => 1\n",
    ['2:15 unknown-call', '1:1 virtual-refuses'],
  ],
  [
    'a schema that does not compile',
    `${HEAD}const odd = { ...p.string(), schema: { type: 'strin' } }\nexport const a = fn({\n  one: odd,\n}, () => 1)\n`,
    ['4:3 invalid-schema'],
  ],
  [
    'a schema of a result that does not compile',
    `${HEAD}export const a = fn({}, () => 'x', {\n  returns: { ...p.string(), schema: { type: 'strin' } },\n})\n`,
    ['3:3 invalid-schema'],
  ],
  [
    'a default that does not fit',
    `${HEAD}export const a = fn(\n  { times: p.default(p.integer({ minimum: 1 }), 0) },\n  () => 1,\n)\n`,
    ['3:5 invalid-default'],
  ],
  [
    'a required parameter after an optional one',
    `${HEAD}export const a = fn({\n  env: p.optional(p.string()),\n  version: p.string(),\n}, () => 1)\n`,
    ['4:3 required-after-optional'],
  ],
  [
    'two parameters for the rest',
    `${HEAD}export const a = fn({\n  all: p.rest(p.string()),\n  more: p.rest(p.string()),\n}, () => 1)\n`,
    ['4:3 unbindable-parameter'],
  ],
  [
    'a secret',
    `${HEAD}export const a = fn({ user: p.string(), password: p.string() }, () => 1)\n`,
    ['2:41 undeclared-secret'],
  ],
  [
    'a secret in a map',
    `${HEAD}export const a = fn({ login: p.object({ api_key: p.string() }) }, () => 1)\n`,
    ['2:41 undeclared-secret'],
  ],
  [
    'virtual that refuses',
    "export const virtual = () => 'needs a shop'\nexport const a = () => 1\n",
    ['1:1 virtual-refuses'],
  ],
  [
    'virtual that throws',
    "export const a = () => 1\nexport const virtual = () => { throw new Error('oh') }\n",
    ['2:1 virtual-fails'],
  ],
  [
    'virtual without an answer',
    'export const a = () => 1\nexport const virtual = () => undefined\n',
    ['2:1 virtual-fails'],
  ],
  [
    'a virtual name that is no text',
    'export const a = () => 1\nexport const virtualName = 5\n',
    ['2:1 virtual-fails'],
  ],
  ['an exit', 'export const a = () => {\n  process.exit(1)\n}\n', ['2:3 process-exit']],
  ['a syntax error', 'export const a = 1\nexport const = 2\n', ['2:14 import-fails']],
  ['an import of a missing file', "import './_no.ts'\nexport const a = () => 1\n", ['1:8 missing-import']],
  [
    'a package that is not installed',
    "import no from 'no-such-package'\nexport const a = () => no\n",
    ['1:16 missing-package'],
  ],
  ['a wrong type in an example', example('shop.a many'), ['4:13 refused-example']],
  ['an unknown argument in an example', example('shop.a size=1'), ['4:13 refused-example']],
  ['an unknown function in an example', example('shop.b 1'), ['4:13 refused-example']],
])('%s is found', async (_, text, found) => {
  expect(await check(text)).toEqual(found)
})

function example(call: string): string {
  return `${HEAD}/**\n * Count.\n * @example salt '*' ${call}\n */\nexport const a = fn({ times: p.integer() }, () => 1)\n`
}

test('a plugin needs the default export of its kind', async () => {
  const text = 'export const render = () => 1\n'
  expect(await check(text, 'outputters/pretty.ts', 'outputters')).toEqual(['1:1 plugin-export'])
})

test.each([
  ['export const render = () => 1', "This file has no default export, but exports 'render' by name"],
  ['export default {}', 'The default export of this file has no render()'],
  ['export default () => 1', 'The default export of this file is a function'],
])('a wrong plugin %s is reported in a sentence, with what to write', async (text, wrong) => {
  expect(await messages(`${text}\n`, 'outputters/pretty.ts', 'outputters')).toEqual([
    `${wrong}; write 'export default outputter({ render: … })'.`,
  ])
})

test('a file that hides a built-in one is found', async () => {
  expect(await check('export const run = () => 1\n', 'modules/cmd.ts')).toEqual(['1:1 hides-built-in'])
})

test('circles of imports are found, whether they break the import or not', async () => {
  await folder.put('modules/_late.ts', "import { a } from './shop.ts'\nexport const late = () => a\n")
  const harmless = "import { late } from './_late.ts'\nexport const a = () => late\n"
  expect(await check(harmless)).toEqual(['_late.ts:1:19 circular-import'])
  await folder.put('modules/_soon.js', "import { b } from './till.js'\nexport const soon = b\n")
  const broken = "import { soon } from './_soon.js'\nexport const a = () => soon\nexport const b = 1\n"
  expect(await check(broken, 'modules/till.js')).toEqual(['_soon.js:2:21 import-fails'])
})

test('an import that throws is found where it does', async () => {
  expect(await check("\nthrow new Error('a')\n", 'modules/shop.js')).toEqual(['2:7 import-fails'])
})

test('helpers are checked with the files that import them', async () => {
  await folder.put('modules/_end.ts', '\nexport const end = () => process.exit(1)\n')
  expect(await check("export { end } from './_end.ts'\n")).toEqual(['_end.ts:2:26 process-exit'])
})

test('packages must be declared, and have no install script', async () => {
  await folder.put('package.json', JSON.stringify({ name: 'own', devDependencies: { native: '1' } }))
  const store = (name: string, content: object) =>
    folder.put(`node_modules/${name}/package.json`, JSON.stringify({ name, main: 'index.js', ...content }))
  await store('plain', { dependencies: { native: '1' } })
  await store('native', { scripts: { postinstall: 'make' } })
  for (const name of ['plain', 'native'])
    await folder.put(`node_modules/${name}/index.js`, 'module.exports = 1\n')
  const text =
    "import plain from 'plain'\nimport native from 'native'\nexport const a = () => plain + native\n"
  const found = await messages(text)
  expect(found).toEqual([
    expect.stringContaining("'plain' is not among the dependencies"),
    expect.stringContaining("'plain' needs a script (postinstall) when it is installed, by way of 'native'."),
    expect.stringContaining("'native' is only among the devDependencies"),
    expect.stringContaining("'native' needs a script (postinstall) when it is installed."),
  ])
})

test('an optional package of dependsOn does not have to be installed', async () => {
  const text =
    "export const dependsOn = [{ package: 'no-such-package' }]\nexport const a = () => import('no-such-package')\n"
  expect(await check(text)).toEqual(['1:1 virtual-refuses'])
})

test('calls of other files of the folder, and untyped ones, are known', async () => {
  await folder.put('modules/till.ts', 'export const sum = () => 1\n')
  const text = `import { fn, untyped } from 'salt-ts'
export const a = fn(async (_, { call }) => [await call('till.sum'), await call(untyped('state.apply'))])\n`
  expect(await check(text)).toEqual([])
})

test('a comment disables a rule in its line or the next one', async () => {
  const meant = `${HEAD}export const a = fn({
  // salt-ts-ignore undeclared-secret: it is a kind of money
  token: p.string(),
  password: p.string(), // salt-ts-ignore unknown-call: another rule
}, () => 1)\n`
  expect(await check(meant)).toEqual(['5:3 undeclared-secret'])
})

test('a message says how to fix the mistake', SLOW, async () => {
  expect(await messages(`${HEAD}export default fn(() => 1)\n`)).toEqual([
    "Its default export is not offered; export each function by its name: 'export const NAME = fn(…)'.",
  ])
  expect(await messages("export const a = (_, { call }) => call('cmd.runn')\n", 'modules/other.js')).toEqual([
    "There is no function 'cmd.runn' here, nor in salt-ts; did you mean 'cmd.run'?",
  ])
})

test(
  'the explanation of where a function comes from contains the warnings about the file',
  SLOW,
  async () => {
    const path = await folder.put(
      'modules/shop.ts',
      `${HEAD}export const a = fn({ password: p.string() }, () => 1)\n`,
    )
    const { view } = folder.open()
    expect((await view.why('shop.a')).warnings).toEqual([
      expect.stringMatching(/shop\.ts:2: a: 'password' seems/),
    ])
    expect(await view.why('shop.a')).toMatchObject({ provided_by: path })
    expect(await view.why('test.ping')).not.toHaveProperty('warnings')
  },
)
