/** `salt-ts dev`, as an author uses it: lines are typed, and files are saved. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import SaltTs from '../../core/cli/commands/salt-ts.ts'
import { exitCodeFrom } from '../../core/cli/program/program.ts'
import { Cluster } from '../harness/daemons.ts'
import { Debugger } from '../harness/debugger.ts'
import { Dev } from '../harness/dev.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { captured } from '../harness/terminal.ts'
import { until } from '../harness/until.ts'

const project = fileURLToPath(new URL('../../', import.meta.url))

const HELLO = `/** Greetings. */
import { fn, p } from 'salt-ts'
import { word } from './_word.ts'

/** Greet somebody. */
export const greet = fn({ name: p.string(), times: p.default(p.integer(), 1) }, ({ name, times }, { log }) => {
  log.info(\`Greeting \${name}\`)
  return Array.from({ length: times }, () => \`\${word}, \${name}\`).join(' and ')
})
`
/** The line of `HELLO` at which the debugger stops. */
const STOP_LINE = 7
const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from 'salt-ts/testing'
import { greet } from './hello.ts'

test('greets', async () => {
  assert.equal((await run(greet, ['Ada'])).result, 'Hello, Ada')
})
`
const RUNNER = `import { fn } from 'salt-ts'
/** Answer with a text. */
export const all = fn(async (_, { master }) => {
  const answers: unknown[] = []
  for await (const answer of master.run({ tgt: '*', fun: 'test.ping' })) answers.push(answer.return)
  return answers.join(' and ')
})
`
const ENDS = `import { fn } from 'salt-ts'
export const itself = fn(() => process.kill(process.pid, 'SIGKILL'))
export const never = fn(() => {
  console.log('begun')
  for (;;) {}
})
`
const FILES = { 'modules/hello.ts': HELLO, 'modules/_word.ts': "export const word = 'Hello'\n" }
describe('with two minions, tests and an inspector', () => {
  let dev: Dev
  let inspector: string
  let configDir: string
  beforeAll(async () => {
    const files = {
      ...FILES,
      'modules/hello.test.ts': TEST,
      'runners/ours.ts': RUNNER,
    }
    dev = await Dev.start({ files, words: ['--minions', '2', '--test', '--inspect=0', '--out', 'txt'] })
    const ready = await dev.shows("' test.ping\n")
    inspector = /ws:\S+/.exec(ready)?.[0] ?? ''
    configDir = /salt -c (\S+)/.exec(ready)?.[1] ?? ''
    await dev.shows('Tests: 1 passed.', '_catalogue.d.ts written: 1 function')
  })
  afterAll(async () => {
    dev.type('salt nobody test.ping\n')
    expect(await dev.end()).toEqual({ code: 2, left: [] })
    await dev.close()
  })

  test('a typed function runs on all minions, and what it logs is shown', async () => {
    dev.type('hello.greet Ada times=2\n')
    await dev.shows(
      'Greeting Ada',
      'minion1: Hello, Ada and Hello, Ada',
      'minion2: Hello, Ada and Hello, Ada',
    )
  })

  test('salt with all its options, and runners, reach the same minions', async () => {
    dev.type("salt -L minion2 --out json hello.greet 'Ada L.'\nsalt-run ours.all\n")
    expect(JSON.parse(/\{.*\}/s.exec(await dev.shows('Hello, Ada L."\n}'))?.[0] ?? '')).toEqual({
      minion2: 'Hello, Ada L.',
    })
    await dev.shows('true and true')
  })

  test('runners and wheel functions have their help at the prompt, too', async () => {
    dev.type('salt-run ours.all --help\nsalt-run -d manage.up\nsalt-run wheel key.list_all --out json\n')
    await dev.shows('ours.all:\n', 'Answer with a text.')
    await dev.shows('manage.up:\n', 'Parameters:')
    await dev.shows('"minion1",')
  })

  test('other programs reach the master by the folder that is shown', async () => {
    const args = ['-c', configDir, '--out', 'txt', 'minion1', 'hello.greet', 'Bob']
    expect((await execa(join(project, 'bin/salt'), args)).stdout).toBe('minion1: Hello, Bob')
  })

  test('a saved helper is used by the next call, and tests that fail are shown at the line of the author', async () => {
    await dev.save('modules/_word.ts', "export const word = 'Good day'\n")
    await dev.shows('modules/_word.ts loaded in ')
    dev.type('hello.greet Ada\n')
    await dev.shows('minion1: Good day, Ada')
    const failed = await dev.shows('Tests: 0 passed, 1 failed.', "expected: 'Hello, Ada'")
    expect(failed).toContain('test at modules/hello.test.ts:6:1')
    expect(failed).toContain(`${join(dev.folder, 'modules/hello.test.ts')}:7:10)`)
    await dev.save('modules/_word.ts', "export const word = 'Hello'\n")
    await dev.shows('modules/_word.ts loaded in ', 'Tests: 1 passed.')
  })

  test('a file that cannot be loaded is shown with the code, and its last version stays in use', async () => {
    await dev.save('modules/hello.ts', `${HELLO}export const wrong = = 1\n`)
    const shown = await dev.shows('Its last version that loaded stays in use.')
    expect(shown).toContain('modules/hello.ts:10:22: SyntaxError: Unexpected "="\n')
    expect(shown).toContain('  > 10 | export const wrong = = 1\n')
    await dev.shows('modules/hello.ts saved; 1 file cannot be loaded.')
    dev.type('hello.greet Ada\n')
    await dev.shows('minion2: Hello, Ada')
    await dev.save('modules/hello.ts', HELLO)
    await dev.shows('modules/hello.ts loaded in ')
  })

  test('a new parameter is known at once, and so are the types of a new module', async () => {
    await dev.save('modules/numbers.ts', HELLO.replace('name: p.string()', 'name: p.integer()'))
    await dev.shows('_catalogue.d.ts written: 2 functions', 'modules/numbers.ts loaded in ')
    dev.type('numbers.greet Ada\n')
    await dev.shows("'name' must be an integer")
    expect(await dev.read('modules/_catalogue.d.ts')).toContain("'numbers.greet'")
  })

  test('a debugger stops at the line of the source where it has a breakpoint', async () => {
    const debug = await Debugger.connect(inspector)
    dev.type('hello.greet Ada\n')
    await dev.shows('minion1: Hello, Ada', 'minion2: Hello, Ada')
    await debug.stopAt(join(dev.folder, 'modules/hello.ts'), STOP_LINE)
    dev.type('salt minion1 hello.greet Bob\n')
    expect(await debug.stopped()).toEqual({ file: join(dev.folder, 'modules/hello.ts'), line: STOP_LINE })
    await dev.shows('minion1: Hello, Bob')
    debug.close()
  })

  test('a line that cannot be run is refused with a sentence', async () => {
    dev.type("hello.greet 'Ada\nsalt-run\nhello.gret\nhelp\n")
    await dev.shows("ERROR: The line has a ' that nothing follows or closes.")
    await dev.shows('ERROR: Name a runner: salt-run manage.up')
    await dev.shows("'hello.gret' is not available.")
    await dev.shows('run a function on all minions')
    dev.type('salt-key -L\n')
    await dev.shows(
      `Run 'salt-key -c ${configDir}' in another terminal, or type salt-run wheel key.list_all.`,
    )
  })
})

describe('with one minion', () => {
  let dev: Dev
  afterEach(() => dev?.close())

  test('dev survives a function that ends its process; SIGTERM ends everything', async () => {
    dev = await Dev.start({ files: { 'modules/ends.ts': ENDS } })
    dev.type('ends.itself\ntest.ping\n')
    await dev.shows('was ended by SIGKILL; it starts again.')
    await dev.shows('minion:\n    True')
    expect(await dev.end('SIGTERM')).toEqual({ code: 130, left: [] })
  })

  test('the lines of a script are checked from the first on, before anything runs', async () => {
    dev = await Dev.start({ files: FILES })
    dev.type('hello.greet nmae=Ada\nhello.greet Ada\n')
    await dev.shows('No command was sent, because no minion would run it', "Did you mean 'name'?")
    await dev.shows('minion:\n    Hello, Ada')
    expect(await dev.end()).toEqual({ code: 0, left: [] })
  })

  test('a file that loops at its top level is named, and the next saved file restarts the master and the minions', async () => {
    dev = await Dev.start({ files: { 'modules/loops.ts': 'for (;;) {}\n' } })
    await dev.shows('modules/loops.ts has been loading for 5 s: it may loop forever')
    await dev.save('modules/loops.ts', ENDS)
    await dev.shows('modules/loops.ts saved. The master and the minions start again.')
    dev.type('test.ping\n')
    await dev.shows('minion:\n    True')
    await dev.save('modules/ends.ts', ENDS)
    await dev.save('modules/waits.ts', 'await new Promise(() => {})\n')
    await dev.shows('modules/waits.ts has been loading for 5 s')
    await rm(join(dev.folder, 'modules/waits.ts'))
    await dev.shows('modules/waits.ts saved. The master and the minions start again.')
    dev.type('test.ping\n')
    await dev.shows('minion:\n    True')
    expect(await dev.end()).toEqual({ code: 0, left: [] })
  })

  test('a file that ends its process is named, and files that fail in the same place are shown once', async () => {
    const imports = "import './_broken.ts'\n"
    const broken = {
      'modules/_broken.ts': 'throw new Error("no")\n',
      'modules/one.ts': imports,
      'modules/two.ts': imports,
    }
    dev = await Dev.start({ files: { ...FILES, ...broken } })
    await dev.shows("' test.ping\n", '_broken.ts:1:7: Error: no')
    await dev.save('modules/exits.ts', 'const code = 3\nprocess.exit(code)\n')
    const shown = await dev.shows('modules/exits.ts saved; 3 files cannot be loaded.')
    expect(shown).toContain('modules/exits.ts:2:9: ')
    expect(shown.split('modules/_broken.ts:1:7: Error: no').length - 1, shown).toBe(1)
  })

  test.each([
    ['killed', false],
    ['in a terminal that is killed', true],
  ])('no process is left of a dev that is %s', async (_, onTerminal) => {
    dev = await Dev.start({ files: FILES, onTerminal })
    await dev.shows("' test.ping")
    dev.type(`test.sleep 30${onTerminal ? '\r' : '\n'}`)
    if (onTerminal) await dev.shows('running 1')
    dev.kill()
    await until(
      () => `the end of ${dev.left().join(', ')}`,
      () => dev.left().length === 0,
    )
  })

  test('on a terminal, Tab completes, Ctrl-C ends a function that loops, and Ctrl-D everything', async () => {
    dev = await Dev.start({ files: { ...FILES, 'modules/ends.ts': ENDS }, onTerminal: true })
    await dev.shows('3 functions', 'salt> ')
    dev.type('hello.gr\t')
    await dev.shows('hello.greet ')
    dev.type('na\t')
    await dev.shows('name=')
    dev.type('Ada\r')
    await dev.shows('Hello, Ada', 'salt> ')
    dev.type('ends.never\r')
    await dev.shows('begun')
    dev.type('\x03')
    await dev.shows('start again')
    dev.type('test.ping\r')
    await dev.shows('True')
    dev.type('\x04')
    expect(await dev.end()).toEqual({ code: 0, left: [] })
  })
})

describe('with a minion of a real master', () => {
  let cluster: Cluster
  let dev: Dev
  const greet = async (id: string) => (await cluster.salt(id, 'hello.greet', 'Ada', '--out', 'txt')).stdout
  beforeAll(async () => {
    const roots = await temporaryFolder('salt-dev-roots-')
    await mkdir(join(roots, '_modules'))
    await writeFile(
      join(roots, '_modules', 'hello.ts'),
      "export const greet = (name: string) => 'Good day, '.concat(name)\n",
    )
    cluster = await Cluster.open({ minions: ['web1', 'web2'], master: { file_roots: { base: [roots] } } })
    await cluster.salt('*', 'saltutil.sync_all')
  })
  afterEach(() => dev?.close())
  afterAll(async () => {
    const [roots = ''] = cluster.config.file_roots.base ?? []
    await cluster.close()
    await removeFolder(roots)
  })

  test('that minion has the saved files, until the end; then it has those of its master', async () => {
    expect(await greet('web1')).toBe('web1: Good day, Ada\n')
    dev = await Dev.start({ files: FILES, words: ['--minion', 'web1', '-c', cluster.configDir] })
    dev.type('hello.greet Ada\nsalt-run manage.up\n')
    await dev.shows('web1:\n    Hello, Ada', '- web2')
    expect(await greet('web2')).toBe('web2: Good day, Ada\n')
    await dev.save('modules/_word.ts', "export const word = 'Hi'\n")
    await dev.shows('modules/_word.ts loaded in')
    dev.type('hello.greet Ada\n')
    await dev.shows('Hi, Ada')
    await dev.save('modules/hello.ts', 'export const greet = ( => 1\n')
    await dev.shows('1 file cannot be loaded')
    expect(await greet('web1')).toBe('web1: Hi, Ada\n')
    expect(await dev.end()).toEqual({ code: 0, left: [] })
    expect(await greet('web1')).toBe('web1: Good day, Ada\n')
    const { stdout } = await cluster.salt('web1', 'saltutil.list_extmods', '--out', 'json')
    expect(JSON.parse(stdout).web1).toEqual({ modules: ['hello'] })
  })

  test.each([
    ['web9', 'No minions matched'],
    ['web2', 'web2 runs Python Salt, which does not load TypeScript.'],
  ])('%s is refused: %s', async (id, sentence) => {
    await cluster.salt('web2', 'grains.setval', 'nodeversion', '')
    dev = await Dev.start({ files: FILES, words: ['--minion', id, '-c', cluster.configDir] })
    await dev.shows(sentence)
    expect(await dev.end()).toEqual({ code: expect.toSatisfy((code) => code > 0), left: [] })
  })
})

test.each([
  [['dev', '/nowhere/at/all'], '/nowhere/at/all is not a folder.'],
  [['dev', '--inspect=x', project], "--inspect needs a port from 0 to 65535, as in --inspect=9230, not 'x'."],
  [['dev', '--minions', '21', project], '--minions needs a number from 1 to 20, not 21.'],
  [['dev', '-c', project, project], 'name one of its minions with --minion.'],
  [['dev', '--minion', 'web/1', project], "--minion needs the id of a minion, not 'web/1'."],
  [['dev', '--minion', 'web1', '--inspect', project], '--inspect is for minions of its own'],
])('%j is refused', async (words, sentence) => {
  const { stderr } = await captured(() => exitCodeFrom(SaltTs, words))
  expect(stderr).toContain(sentence)
})
