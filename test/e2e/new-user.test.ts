/** The first module of a new user, from the file server of the master to all minions, with the output of each step. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Cluster, reportsModules } from '../harness/daemons.ts'
import { until } from '../harness/until.ts'

const HELLO = `/** Greetings. */
import leftpad from 'leftpad'
import { fn, p } from 'salt-ts'
import { shout } from './lib/shout.ts'

/**
 * Greet somebody.
 *
 * @example salt '*' hello.greet Ada times=2
 */
export const greet = fn(
  { name: p.string({ minLength: 1 }), times: p.default(p.integer({ minimum: 1 }), 1) },
  ({ name, times }) => Array.from({ length: times }, () => \`Hello, \${shout(name)}!\`),
)

/** Pad a number. */
export const pad = fn(
  { n: p.number(), width: p.integer({ minimum: 1, maximum: 20 }) },
  ({ n, width }) => leftpad(n, width, '0'),
)
`
const SHOUT = 'export const shout = (text: string): string => text.toUpperCase()\n'

let cluster: Cluster
let roots: string
const synced = (file: string) => join(cluster.root, 'web1', 'var/cache/salt/minion/extmods/modules', file)

beforeAll(async () => {
  cluster = await Cluster.open()
  roots = join(cluster.root, 'srv')
  await mkdir(roots)
  await cluster.master.stop()
  await cluster.master.writeConfig({ file_roots: { base: [roots] } })
  await cluster.startMaster()
  await cluster.addMinion('web1', reportsModules)
  await put('lib/shout.ts', SHOUT)
  await put('node_modules/leftpad/package.json', '{"name":"leftpad","main":"index.js"}')
  await put('node_modules/leftpad/index.js', `module.exports = (it, n, c) => String(it).padStart(n, c)\n`)
  await put('hello.ts', HELLO)
})
afterAll(() => cluster?.close())

async function put(name: string, text: string): Promise<void> {
  const file = join(roots, '_modules', name)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}

/** What `salt web1 …` shows and how it ends. */
async function salt(...words: string[]): Promise<string> {
  const { stdout, stderr, code } = await cluster.salt('web1', ...words)
  return `${stdout}${stderr}(${code})`.trim()
}
const sync = () => salt('saltutil.sync_modules')

test('a new module is synced, listed, documented and called', async () => {
  expect(await sync()).toBe(
    'web1:\n    - modules.hello\n    - modules.lib.shout\n    - modules.node_modules.leftpad\n(0)',
  )
  expect(await salt('sys.list_functions', 'hello')).toBe('web1:\n    - hello.greet\n    - hello.pad\n(0)')
  expect(await salt('-d', 'hello.greet')).toBe(
    "hello.greet:\n\n    Greet somebody.\n\n    CLI Example:\n\n        salt '*' hello.greet Ada times=2\n\n    Parameters:\n\n        name: string, at least 1 character\n        times: integer, at least 1, default 1\n\n(0)",
  )
  expect(await salt('hello.greet', 'Ada', 'times=2')).toBe('web1:\n    - Hello, ADA!\n    - Hello, ADA!\n(0)')
  expect(await salt('hello.pad', '7', '3')).toBe('web1:\n    007\n(0)')
  await until('the master to know what the minion has', async () =>
    (await salt('hello.nosuch')).includes('No command was sent'),
  )
})

describe('called wrong, is refused before anything is sent:', () => {
  test.each([
    [
      'an argument that is missing',
      ['hello.greet'],
      "greet() missing 1 required positional argument: 'name'",
    ],
    ['a value out of range', ['hello.greet', 'Ada', 'times=0'], "'times' must be at least 1, not 0"],
    ['a name that is misspelt', ['hello.greet', 'Ada', 'tmes=2'], "tmes=2. Did you mean 'times'?"],
    [
      'a function that is misspelt',
      ['hello.gret', 'Ada'],
      "'hello.gret' is not available. Did you mean 'hello.greet'?",
    ],
    ['a value of another type', ['hello.pad', 'seven', '3'], `'n' must be a number, not "seven"`],
  ])('%s', async (_, words, sentence) => {
    const shown = await salt(...words)
    expect(shown).toMatch(/^ERROR: No command was sent, because no minion would run it: /)
    expect(shown).toContain(sentence)
    expect(shown).toContain('(64)')
  })
  test('or by the minion, if it is sent with --no-check', async () => {
    expect(await salt('--no-check', 'hello.greet', 'Ada', 'times=x')).toContain(
      `Passed invalid arguments to hello.greet: 'times' must be an integer, not "x"`,
    )
  })
})

test('changed with its helper, is used in its new version by the next job', async () => {
  await put('hello.ts', HELLO.replace('Hello,', 'Good day,'))
  await put('lib/shout.ts', SHOUT.replace('toUpperCase()', 'concat("?")'))
  expect(await sync()).toBe('web1:\n    - modules.hello\n    - modules.lib.shout\n(0)')
  expect(await salt('hello.greet', 'Ada')).toBe('web1:\n    - Good day, Ada?!\n(0)')
})

test('broken, is named with file, line and reason, by the synchronisation and by each call', async () => {
  await put('hello.ts', `${HELLO}export const broken = fn({ a: p.string( }, () => 1)\n`)
  const reason = `${synced('hello.ts')}:21: SyntaxError: Unexpected "}"`
  expect(await sync()).toContain(`- modules.hello (failed to load: ${reason})`)
  expect(await salt('--no-check', 'hello.greet', 'Ada')).toContain(
    `'hello.greet' is not available. Possible reasons: '${reason}'`,
  )
  expect(await salt('sys.why', 'hello.greet')).toContain(`cannot be loaded: ${reason}`)
  expect(await salt('test.ping')).toBe('web1:\n    True\n(0)')
})

test('repaired, works again; removed, is gone', async () => {
  await put('hello.ts', HELLO)
  expect(await sync()).toBe('web1:\n    - modules.hello\n(0)')
  expect(await salt('hello.pad', '7', '3')).toBe('web1:\n    007\n(0)')
  await rm(join(roots, '_modules', 'hello.ts'))
  expect(await sync()).toBe('web1:\n    - modules.hello (removed)\n(0)')
  expect(await salt('hello.pad', '7', '3')).toContain("'hello.pad' is not available.")
})
