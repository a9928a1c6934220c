import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { create } from '../../core/cli/authoring/create.ts'
import { templateWords } from '../../core/cli/authoring/templates/index.ts'
import SaltTs from '../../core/cli/commands/salt-ts.ts'
import { exitCodeFrom } from '../../core/cli/program/program.ts'
import manifest from '../../package.json' with { type: 'json' }
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { captured } from '../harness/terminal.ts'
import { typeCheck } from '../harness/type-check.ts'
import { until } from '../harness/until.ts'

const project = fileURLToPath(new URL('../../', import.meta.url))
const program = (name: string) => join(project, 'bin', name)

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-author-')
})
afterEach(() => removeFolder(folder))

/** A user's shell: nothing of the test's own run is known in it. */
async function type(name: string, ...words: string[]): Promise<{ code: number | undefined; text: string }> {
  const env = { NODE_OPTIONS: '', NODE_TEST_CONTEXT: undefined }
  const { exitCode, all } = await execa(program(name), words, { cwd: folder, reject: false, all: true, env })
  return { code: exitCode, text: all }
}

/** What `salt-ts` does with these words, in this process; which name the folder. */
async function saltTs(...words: string[]): Promise<{ code: number; text: string }> {
  const { result, stdout, stderr } = await captured(() => exitCodeFrom(SaltTs, words))
  return { code: result, text: `${stdout}${stderr}`.trimEnd() }
}

/** What `salt-ts create module` does in the test's folder, in this process. */
const createModule = (name: string) => create({ kind: 'module', name, directory: folder })

const createUtils = (name: string) => create({ kind: 'utils', name, directory: folder })

/** As after `npm install`, but for the network. */
async function installCompiler(): Promise<void> {
  await mkdir(join(folder, 'node_modules', '@types'), { recursive: true })
  for (const name of ['typescript', '@types/node'])
    await symlink(join(project, 'node_modules', name), join(folder, 'node_modules', name))
}

const THROWS_AT_LINE_8 = `// What the compiler leaves out:
interface Place {
  name: string
}

export function late(): never {
  const here: Place = { name: 'here' }
  throw new Error(here.name)
}
`

describe('salt-ts create', () => {
  test('the files it writes, for every kind, pass their tests and type-check', async () => {
    for (const kind of templateWords) {
      const { code, text } = await saltTs('create', kind, 'disk_usage', '--dir', folder)
      expect({ code, text }).toEqual({ code: 0, text: expect.stringContaining('disk_usage.ts') })
    }
    const files = await readdir(folder, { recursive: true })
    const kinds = files
      .filter((name) => name.endsWith('/disk_usage.test.ts'))
      .map((file) => `import '../${file}'\n`)
    expect(kinds).toHaveLength(templateWords.length)
    await mkdir(join(folder, 'all'))
    await writeFile(join(folder, 'all/kinds.test.ts'), kinds.join('')) // all in one process, which saves seconds
    const tests = await type('salt-ts', 'test', 'all')
    expect(tests).toEqual({ code: 0, text: expect.stringMatching(/pass 23\n.*fail 0\n/s) })
    await installCompiler()
    expect(await typeCheck(folder)).toBe('')
  })

  test('a new project gets a workflow for GitHub, unless it is part of a repository or has a CI system', async () => {
    const creation = async (name: string) =>
      create({ kind: 'grain', name: 'role', directory: join(folder, name) })
    await mkdir(join(folder, 'repository/.git'), { recursive: true })
    expect(await creation('repository/part')).not.toContain('.github')
    await mkdir(join(folder, 'elsewhere'))
    await writeFile(join(folder, 'elsewhere/.gitlab-ci.yml'), '')
    expect(await creation('elsewhere')).not.toContain('.github')
    expect(await creation('repository')).toContain('created .github/workflows/test.yml')
    const { jobs } = parse(await readFile(join(folder, 'repository/.github/workflows/test.yml'), 'utf8'))
    const commands = jobs.test.steps.flatMap(({ run }: { run?: string }) => run ?? [])
    expect(commands).toEqual(['npm ci --ignore-scripts', 'npx tsc', 'npx salt-ts check', 'npx salt-ts test'])
    expect(jobs.test.strategy.matrix.node).toContain(Number.parseInt(manifest.engines.node.slice(2), 10))
  })

  test('a project whose package.json lacks #utils gets instructions with the first helper', async () => {
    await createModule('hello')
    expect(await createUtils('text')).not.toContain('#utils/*')
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    expect(await createUtils('more')).toContain('"imports": { "#utils/*": "./utils/*" }')
  })

  test('the command it prints runs the new function at once', async () => {
    const text = await createModule('hello')
    const [, words = ''] = /npx salt-call (.*)/.exec(text) as RegExpExecArray
    await writeFile(join(folder, 'minion'), `id: m1\nroot_dir: ${folder}\n`)
    const { code, text: shown } = await type('salt-call', '-c', '.', ...words.split(' '))
    expect({ code, shown }).toEqual({ code: 0, shown: 'local:\n    - Hello, Ada, from m1!' })
  })

  test('node_modules gets a link to salt-ts and its programs, so that other tools find them', async () => {
    const { text } = await type('salt-ts', 'create', 'module', 'hello')
    expect(text).toContain('linked node_modules/salt-ts to')
    expect(join(await readlink(join(folder, 'node_modules/salt-ts')), '/')).toBe(project)
    const { stdout } = await execa('npm', ['test'], { cwd: folder })
    expect(stdout).toContain('pass 3')
    expect(await createModule('other')).not.toContain('linked')
  })

  test('existing files are not overwritten', async () => {
    await mkdir(join(folder, 'modules'))
    await writeFile(join(folder, 'modules/hello.test.ts'), 'mine')
    await writeFile(join(folder, 'package.json'), '{ "name": "mine" }')
    await writeFile(join(folder, 'tsconfig.json'), '{}')
    const refused = await saltTs('create', 'module', 'hello', '--dir', folder)
    expect(refused).toEqual({ code: 1, text: expect.stringContaining('hello.test.ts exists already') })
    expect(existsSync(join(folder, 'modules/hello.ts'))).toBe(false)
    const { code, text } = await saltTs('create', 'module', 'other', '--dir', folder)
    expect(code).toBe(0)
    expect(text).toContain('npm pkg set type=module')
    expect(text).toContain('npm install --save-dev salt-ts typescript@6 @types/node && npx tsc')
    expect(await readFile(join(folder, 'package.json'), 'utf8')).toBe('{ "name": "mine" }')
    expect(await readFile(join(folder, 'tsconfig.json'), 'utf8')).toBe('{}')
  })

  test('inside a folder called modules the file goes there; elsewhere with --dir', async () => {
    await mkdir(join(folder, '_modules'))
    await type('salt-ts', 'create', 'module', 'hello', '--dir', '_modules')
    expect(existsSync(join(folder, '_modules/hello.ts'))).toBe(true)
    const { text } = await type('salt-ts', 'create', 'runner', 'status', '--dir', 'deep/own')
    expect(existsSync(join(folder, 'deep/own/runners/status.ts'))).toBe(true)
    expect(text).toContain('cd deep/own')
  })

  test.each([
    [['module', 'Hello'], "'Hello' is not a valid name"],
    [['module', '../up'], "'../up' is not a valid name"],
    [['modul', 'hello'], "Did you mean 'module'?"],
    [['state', 'mine'], "There is no kind 'state'. Kinds are: module, runner, wheel, utils,"],
    [['module'], 'Name a kind and a name'],
    [['module', 'a', 'b'], "Unexpected argument: 'b'"],
  ])('%j is refused', async (words, sentence) => {
    expect(await type('salt-ts', 'create', ...words)).toEqual({
      code: 64,
      text: expect.stringContaining(sentence),
    })
    expect(existsSync(join(folder, 'package.json'))).toBe(false)
  })

  test('a name of a built-in module causes a remark', async () => {
    expect(await createModule('cmd')).toContain("'cmd' is also one of the built-in modules")
  })
})

describe('salt-ts test', () => {
  test('a failed test is shown, and the exit code is 1', async () => {
    await createModule('hello')
    const file = join(folder, 'modules/hello.ts')
    await writeFile(file, (await readFile(file, 'utf8')).replace('Hello, ', 'Goodbye, '))
    const { code, text } = await type('salt-ts', 'test')
    expect(code).toBe(1)
    expect(text).toContain('greets as often as requested')
    expect(text).toContain('Goodbye, Ada')
  })
  test('a test that fails is located at the line and column of its source', async () => {
    await writeFile(join(folder, 'broken.ts'), THROWS_AT_LINE_8)
    const lines = [
      '/** What the compiler leaves out. */',
      "import { test } from 'node:test'",
      "import { late } from './broken.ts'",
      'type Nothing = undefined',
      "  test('throws', () => {",
      '    late()',
      '  })',
    ]
    await writeFile(join(folder, 'broken.test.ts'), lines.join('\n'))
    const { text } = await type('salt-ts', 'test')
    expect(text).toContain('test at broken.test.ts:5:3')
    expect(text).toContain(`${join(folder, 'broken.test.ts')}:6:5)`)
    expect(text).toContain(`${join(folder, 'broken.ts')}:8:9)`)
  })
  test('needs no package.json and no node_modules around a file', async () => {
    await createModule('hello')
    for (const name of ['package.json', 'tsconfig.json', 'node_modules'])
      await rm(join(folder, name), { recursive: true })
    expect(await type('salt-ts', 'test')).toEqual({ code: 0, text: expect.stringContaining('pass 3') })
  })
  test('a folder without tests, and a missing folder, are errors', async () => {
    expect(await saltTs('test', folder)).toEqual({
      code: 1,
      text: expect.stringContaining('no tests below'),
    })
    expect(await saltTs('test', join(folder, 'nowhere'))).toEqual({
      code: 1,
      text: expect.stringContaining('cannot be read'),
    })
  })
})

describe('salt-call names the source of a TypeScript module', () => {
  const callLocal = async (fun: string) => {
    await writeFile(join(folder, 'minion'), `id: m1\nroot_dir: ${folder}\n`)
    return (await type('salt-call', '-c', '.', '--local', '-m', 'modules', fun)).text
  }
  beforeEach(() => mkdir(join(folder, 'modules')))

  test('in the stack of an error of a function', async () => {
    await writeFile(join(folder, 'modules/broken.ts'), THROWS_AT_LINE_8)
    expect(await callLocal('broken.late')).toContain(`${join(folder, 'modules/broken.ts')}:8:9)`)
  })
  test('in a circle of imports', async () => {
    const [first, second] = [join(folder, 'modules/first.ts'), join(folder, 'modules/second.ts')]
    await writeFile(
      first,
      `import { b } from './second.ts'\nexport const a = () => b\nexport const half = 1\n`,
    )
    await writeFile(
      second,
      `import { half } from './first.ts'\n\ntype Same = typeof half\nexport const b: Same = half\n`,
    )
    expect(await callLocal('first.a')).toContain(
      `circular import: ${second}:1 imports ${first}, and ${first}:1 imports ${second}; so 'half' is not set yet when ${second}:4 uses it.`,
    )
  })
})

describe('salt-ts types', () => {
  test('calls of functions of the folder are checked by the types it writes', async () => {
    await createModule('hello')
    expect(await type('salt-ts', 'types')).toEqual({
      code: 0,
      text: expect.stringContaining('written: 2 functions'),
    })
    expect((await saltTs('types', join(folder, 'modules'))).text).toContain('is current')
    await installCompiler()
    const uses = (given: string) => `import { fn } from 'salt-ts'
export const twice = fn(async (_, { call }) => (await call('hello.greet', ${given})).length * 2)\n`
    await writeFile(join(folder, 'modules/uses.ts'), uses("{ name: 'Ada' }"))
    expect(await typeCheck(folder)).toBe('')
    await writeFile(join(folder, 'modules/uses.ts'), uses("{ nom: 'Ada' }"))
    expect(await typeCheck(folder)).toContain("'nom' does not exist")
  })
  test('with --watch it writes them again when a file is saved, until Ctrl-C', async () => {
    await createModule('hello')
    const env = { NODE_OPTIONS: '', NODE_TEST_CONTEXT: undefined }
    const running = execa(program('salt-ts'), ['types', folder, '--watch'], { env, reject: false, all: true })
    const file = join(folder, 'modules/_catalogue.d.ts')
    const written = () => readFile(file, 'utf8').catch(() => '')
    await until('the types', async () => (await written()).includes("'hello.greet'"))
    await writeFile(join(folder, 'modules/more.ts'), 'export const one = () => 1\n')
    await until('the types of the new file', async () => (await written()).includes("'more.one'"))
    running.kill('SIGINT')
    expect(await running).toMatchObject({
      exitCode: 130,
      all: expect.stringContaining('written: 3 functions'),
    })
  })
  test('another file of that name is not overwritten; a folder without functions is an error', async () => {
    expect(await saltTs('types', folder)).toEqual({
      code: 1,
      text: expect.stringContaining('exports a function'),
    })
    await createModule('hello')
    await writeFile(join(folder, 'modules/_catalogue.d.ts'), 'export {}')
    expect(await saltTs('types', folder)).toEqual({
      code: 1,
      text: expect.stringContaining('rename it first'),
    })
  })
})

test('an invalid command is refused with the valid ones', async () => {
  expect(await type('salt-ts', 'mak')).toEqual({
    code: 64,
    text: expect.stringContaining(
      "There is no command 'mak'. Commands are: check, completion, create, dev, docs, pack, test, types.",
    ),
  })
  expect((await saltTs()).text).toContain('Name a command')
})

test('help lists all commands, and describes each', async () => {
  expect((await type('salt-ts', '--help')).text).toMatch(
    /create +Create an extension.*\n +docs +Write web pages.*\n +types +Write/s,
  )
  expect((await type('salt-ts', 'create', '-h')).text).toContain('$ salt-ts create KIND NAME')
  expect((await type('salt-ts', '--help-all')).text).toContain('salt-ts test [FOLDER] [--watch]')
})
