import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadMasterConfig, loadMinionConfig } from '../../core/config/index.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { pageBlock, pageBlocks } from '../harness/page-blocks.ts'
import { prepareStart } from '../harness/prepared-start.ts'
import { until } from '../harness/until.ts'

const project = fileURLToPath(new URL('../../', import.meta.url))
const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
const readme = readFileSync(join(project, 'README.md'), 'utf8')
const GUIDE = 'docs/get-started.md'

let folder: string
let start: ChildProcess | undefined
beforeAll(async () => {
  folder = await temporaryFolder('salt-readme-')
})
afterAll(() => removeFolder(folder))

/** The commands of a block of shell lines. */
function commandsOf(block: string): string[] {
  return block
    .split('\n')
    .map((line) => line.replace(/\s+# .*$/, ''))
    .filter((line) => line !== '')
}

interface Ended {
  readonly code: number | null
  readonly output: string
}

/** Type a line; `enough` ends what would go on for ever. */
function type(line: string, enough?: (output: string) => boolean): Promise<Ended> {
  const child = spawn('sh', ['-c', `exec ${line}`], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
      if (enough?.(output)) child.kill()
    })
  }
  return new Promise((done) => child.once('close', (code) => done({ code, output })))
}

describe('with npm start running', () => {
  beforeAll(async () => {
    for (const name of ['bin', 'dist']) await symlink(join(project, name), join(folder, name))
    await prepareStart(folder, { catalogue_idle_time: 0 }) // one test waits for what the minion reports
    start = spawn(process.execPath, ['dist/core/cli/start.js'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [start.stdout!, start.stderr!]) {
      stream.setEncoding('utf8').on('data', (text) => (output += text))
    }
    await until(
      () => `npm start to be ready:\n${output}`,
      () => output.includes('Ctrl-C stops them.'),
    )
  })
  afterAll(async () => {
    const gone = new Promise((done) => start?.once('exit', done))
    start?.kill('SIGINT')
    await gone
  })

  const shown = commandsOf(pageBlock('README.md', 'From the shell', 'sh'))
  test('the guide shows the same commands', () => {
    const guide = pageBlocks(GUIDE).filter(({ section }) => section.startsWith('Start a master'))
    expect(guide.flatMap(({ text }) => commandsOf(text)).filter((line) => line.startsWith('bin/'))).toEqual(
      shown,
    )
  })
  test.each(shown.filter((line) => !line.includes('event.listen')))('%s', async (line) => {
    const { code, output } = await type(line)
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/\S/) })
    expect(output).not.toMatch(/not available|did not return/)
  })

  const ways = commandsOf(pageBlock(GUIDE, 'See how a job ends', 'sh'))
  test.each(ways)('%s', async (line) => {
    expect(await type(line)).toEqual({
      code: 0,
      output: expect.stringMatching(/returned: 1|"state"|minion:|100 %/),
    })
  })

  test('salt-run event.listen shows events as they happen', async () => {
    const line = shown.find((each) => each.includes('event.listen')) as string
    const listening = type(line, (output) => output.includes('salt/job/'))
    const pinging = setInterval(() => void type("bin/salt -c .salt '*' test.ping"), 2000)
    const { output } = await listening
    clearInterval(pinging)
    expect(output).toMatch(/^salt\/job\/\d{20}\/new\t\{.*\}$/m)
  })

  test('the module in five lines does what the README says', async () => {
    const source = pageBlock('README.md', 'A module', 'ts')
    expect(pageBlock(GUIDE, 'Write a module', 'ts')).toBe(source)
    const code = source.slice(source.indexOf('export')).trim()
    expect(code.split('\n').length).toBeLessThanOrEqual(5)
    const file = join(folder, '.salt', 'modules', 'hello.ts')
    await writeFile(file, source)
    const [one, two, doc, refused, why, doctor] = commandsOf(pageBlock('README.md', 'A module', 'sh'))
    expect(await type(one!)).toEqual({ code: 0, output: 'minion:\n    - Hello, Ada!\n' })
    expect(await type(two!)).toEqual({ code: 0, output: 'minion:\n    - Hello, Ada!\n    - Hello, Ada!\n' })
    expect((await type(doc!)).output).toContain('Say hello.')
    const { code: exit, output } = await type(refused!)
    expect(exit).not.toBe(0)
    expect(output).toContain(`'times' must be an integer, not "x"`)

    expect((await type(why!)).output).toMatch(/hello\.ts:\n +provides it/)
    expect((await type(doctor!)).output).toMatch(/provided_by:\n +-+\n +\S+hello\.ts:\n +- minion/)

    await writeFile(file, source.replace('Hello, ', 'Goodbye, '))
    await type("bin/salt -c .salt '*' saltutil.refresh_modules")
    expect((await type(one!)).output).toBe('minion:\n    - Goodbye, Ada!\n')
  })

  test('files and modules are served and synced as the README says', async () => {
    const outputs: string[] = []
    for (const line of commandsOf(pageBlock(GUIDE, 'Bring files and modules', 'sh'))) {
      const { code, output } = await type(line)
      expect({ line, code, output }).toMatchObject({ code: 0 })
      outputs.push(output)
    }
    const [, , synced, greeted, listed, cached, envs] = outputs
    expect(synced).toBe('minion:\n    - modules.welcome\n')
    expect(greeted).toBe('minion:\n    - Goodbye, Ada!\n')
    expect(listed).toBe('minion:\n    - _modules/welcome.ts\n')
    expect(cached).toMatch(/^minion:\n {4}\/.*\/files\/base\/_modules\/welcome\.ts\n$/)
    expect(envs).toBe('- base\n')
  })

  test("runners and wheel functions run on the master's host", async () => {
    const outputs: string[] = []
    for (const line of commandsOf(pageBlock(GUIDE, "Run functions on the master's host", 'sh'))) {
      const { code, output } = await type(line)
      expect({ line, code, output }).toMatchObject({ code: 0 })
      outputs.push(output)
    }
    const [docs, status, , started, , fingers] = outputs
    expect(docs).toContain('manage.status:')
    expect(status).toMatch(/up:\n +- minion/)
    expect(started).toMatch(/^\d{20}$/m)
    expect(fingers).toMatch(/minions:\n +-+\n +minion:/)
  })

  test('a call that cannot work is refused, sent all the same, or only planned', async () => {
    const [refused, sent, planned] = commandsOf(pageBlock(GUIDE, 'Check a call', 'sh'))
    expect(await type(refused!)).toEqual({
      code: 64,
      output: expect.stringContaining("'test.pign' is not available. Did you mean 'test.ping'?"),
    })
    expect((await type(sent!)).output).toContain("minion:\n    'test.pign' is not available.")
    await until('the plan to be known', async () => {
      const { code, output } = await type(planned!)
      return code === 0 && /name:\s+1\.10\s/.test(output)
    })
  })
})

test('the examples of configuration load without a warning', async () => {
  const examples = ['docs/configuration.md', 'docs/returners.md']
    .flatMap(pageBlocks)
    .filter(({ language, text }) => language === 'yaml' && text.startsWith('# /etc'))
  const named = examples.map(({ text }) => [/^# \/etc\/salt\/(\S+)\n/.exec(text)?.[1] ?? '', text] as const)
  expect(named.map(([file]) => file).sort()).toEqual(['master', 'master.d/stores.conf', 'minion'])
  const configDir = join(folder, 'etc')
  await mkdir(join(configDir, 'master.d'), { recursive: true, mode: 0o700 })
  for (const [file, text] of named) await writeFile(join(configDir, file), text, { mode: 0o600 })
  const master = loadMasterConfig({ configDir })
  const minion = loadMinionConfig({ configDir })
  expect([...master.warnings, ...minion.warnings]).toEqual([])
  expect(minion.config.id).toBe('web1')
})

test('it has 120 to 160 lines', () => {
  const lines = readme.trimEnd().split('\n').length
  expect(lines).toBeGreaterThanOrEqual(120)
  expect(lines).toBeLessThanOrEqual(160)
})

test('the limits name every module and runner there is', () => {
  const limits = readFileSync(join(project, 'docs/limits.md'), 'utf8')
  const named = (folder: string) =>
    readdirSync(join(project, folder))
      .filter((file) => /^[a-z].*\.ts$/.test(file))
      .map((file) => file.slice(0, -3))
  const listed = (kind: string) => new RegExp(`${kind}: \`([^\`]+)\``).exec(limits)?.[1]?.split(' ')
  expect(listed('Modules')?.sort()).toEqual(named('modules').sort())
  expect(listed('runners')?.sort()).toEqual(named('runners').sort())
})

test('it names the version of Node that the package asks for', () => {
  expect(readme).toContain(`Node ${manifest.engines.node.replace('>=', '')} or newer`)
})
