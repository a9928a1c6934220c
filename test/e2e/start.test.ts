import { spawn } from 'node:child_process'
import { chownSync, readFileSync, statSync } from 'node:fs'
import { appendFile, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { prepareStart } from '../harness/prepared-start.ts'
import { isAlive, signalAll, withEnvironment } from '../harness/processes.ts'
import { until } from '../harness/until.ts'

const project = fileURLToPath(new URL('../../', import.meta.url))
const MARK = 'SALT_TS_START_TEST'
const DONE = 'Ctrl-C stops them.'

/** The folder of the tests of one group: those after the first find its keys, and start the faster. */
let folder: string

function inOneFolder(name: string, tests: () => void): void {
  describe(name, () => {
    beforeAll(async () => {
      folder = await projectIn(await temporaryFolder('salt-start-'))
    })
    afterEach(() => {
      if (!kept) signalAll(ours(), 'SIGKILL')
    })
    afterAll(async () => {
      kept = undefined
      signalAll(ours(), 'SIGKILL')
      await removeFolder(folder)
    })
    tests()
  })
}

/** Everything that a start of this test began, however many parents away. */
const ours = () => withEnvironment(MARK, folder).map(({ pid }) => pid)

/** A folder in which `npm start` does what it does in the project, without the build before it. */
async function projectIn(path: string): Promise<string> {
  const { scripts, ...manifest } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
  const copy = { ...manifest, scripts: { start: scripts.start } }
  await writeFile(join(path, 'package.json'), JSON.stringify(copy))
  for (const name of ['bin', 'dist', 'node_modules']) await symlink(join(project, name), join(path, name))
  return path
}

interface StartOptions {
  readonly cwd?: string
  readonly uid?: number
  readonly temporary?: string
}

/** What `npm start` runs; run without npm, which takes half a second of processor time, where npm has no part in what is tested. */
const PROGRAM = ['node', 'dist/core/cli/start.js']

class Start {
  output = ''
  code: number | null | undefined
  readonly pid: number
  readonly ended: Promise<number | null>

  constructor(
    [program = '', ...args]: readonly string[],
    { cwd = folder, uid, temporary }: StartOptions = {},
  ) {
    const child = spawn(program, args, {
      cwd,
      detached: true, // a process group, as a terminal makes one
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        [MARK]: folder,
        npm_config_update_notifier: 'false',
        ...(temporary !== undefined && { TMPDIR: temporary }),
      },
      ...(uid !== undefined && { uid, gid: uid }),
    })
    this.pid = child.pid as number
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => (this.output += text))
    }
    this.ended = new Promise((done) =>
      child.once('close', (code) => {
        this.code = code
        done(code)
      }),
    )
  }

  /** Wait until this was printed. */
  printed(text: string): Promise<true> {
    return until(
      () => `"${text}" in:\n${this.output}`,
      () => {
        if (this.output.includes(text)) return true
        if (this.code !== undefined) throw new Error(`npm start ended (${this.code}):\n${this.output}`)
        return undefined
      },
    )
  }

  /** What a terminal does to all processes in its foreground. */
  async pressCtrlC(): Promise<void> {
    process.kill(-this.pid, 'SIGINT')
    await this.ended
    await until('no process left', () => ours().length === 0)
  }
}

/** A start that stays up for the test after the one that began it. */
let kept: Start | undefined

async function startedByNpm(): Promise<Start> {
  const start = new Start(['npm', 'start'])
  await start.printed(DONE)
  return start
}

const ONCE_BY_NPM = ['npm', 'start', '--', '--once']

async function once(
  options?: StartOptions,
  words = [...PROGRAM, '--once'],
): Promise<{ code: number | null; output: string }> {
  const start = new Start(words, options)
  return { code: await start.ended, output: start.output }
}

/** The parts of a text, in this order. */
function expectInOrder(output: string, parts: readonly string[]): void {
  const places = parts.map((part, index) =>
    output.indexOf(part, index ? output.indexOf(parts[index - 1]!) : 0),
  )
  expect(places, output).not.toContain(-1)
}

inOneFolder('npm start', () => {
  test('it shows a key arriving and being accepted, a job and its events, and ends with 0', async () => {
    const { code, output } = await once({}, ONCE_BY_NPM)
    expectInOrder(output, [
      'Starting salt-master on 127.0.0.1',
      'Starting salt-minion',
      'Its key has arrived',
      '$ salt-key -L\n',
      'Unaccepted Keys:\nminion\n',
      '$ salt-key -y -a minion\n',
      'Key for minion minion accepted.\n',
      "$ salt '*' test.ping\nminion:\n    True\n",
      "$ salt '*' cmd.run 'uname -a'\nminion:\n    Linux",
      '\nsalt/job/',
      '/new\n    {"jid": "20',
      '/ret/minion\n    {',
    ])
    expect(code).toBe(0)
    expect(output).not.toContain(DONE)
    expect(output.replace(/^npm .*$/gm, '')).not.toMatch(/warn|error/i)
    expect(ours()).toEqual([])
    expect((await stat(join(folder, '.salt'))).mode & 0o777).toBe(0o700)
    expect(await readdir(join(folder, '.salt'))).toEqual(expect.arrayContaining(['files', 'modules']))
  })

  test('a second start keeps changes of the configuration, keys and jobs', async () => {
    await appendFile(join(folder, '.salt', 'minion'), 'grains:\n  roles: [web]\nmultiprocessing: false\n')
    await appendFile(join(folder, '.salt', 'master'), 'worker_threads: 1\n')
    kept = await startedByNpm()
    expect(kept.output).toContain('accepted in an earlier start')
    expect(await readFile(join(folder, '.salt', 'minion'), 'utf8')).toContain('roles: [web]')
  })

  test('it stays up for other terminals, refuses a second start, and Ctrl-C stops everything within 5 s', async () => {
    const start = kept ?? (await startedByNpm())
    kept = undefined
    expect(start.output).toContain("bin/salt -c .salt '*' test.ping")
    const salt = await run('bin/salt', '-c', '.salt', '*', 'test.ping')
    expect(salt).toEqual({ code: 0, output: 'minion:\n    True\n' })

    const second = await once()
    expect(second.code).not.toBe(0)
    expect(second.output).toMatch(
      /npm start failed: A salt-master .* is running in this folder already \(process \d+\)/,
    )
    expect((await run('bin/salt', '-c', '.salt', '*', 'test.ping')).code).toBe(0)

    await start.pressCtrlC()
    expect(start.code).toBe(0)
  })

  test('the end of one daemon ends all, with a reason', async () => {
    const start = new Start(PROGRAM)
    await start.printed(DONE)
    signalAll([Number(await readFile(join(folder, '.salt', 'run', 'minion.pid'), 'utf8'))], 'SIGKILL')
    expect(await start.ended).not.toBe(0)
    expect(start.output).toContain('npm start failed: salt-minion ended by itself (SIGKILL)')
    await until('no process left', () => ours().length === 0)
  })

  test('processes that a killed start left running are named by the next start, which refuses', async () => {
    const start = new Start(PROGRAM)
    await start.printed(DONE)
    process.kill(-start.pid, 'SIGKILL')
    await until('npm start to be gone', () => !isAlive(start.pid))
    const next = await once()
    expect(next.code).not.toBe(0)
    const pid = Number(/kill (\d+)/.exec(next.output)?.[1])
    expect(isAlive(pid)).toBe(true)
  })
})

inOneFolder('npm start in a folder of another kind', () => {
  test('it works in a folder whose name is long and has spaces', async () => {
    const deep = join(folder, 'a folder'.repeat(8), 'of a person'.repeat(8))
    await mkdir(deep, { recursive: true })
    await prepareStart(deep, { multiprocessing: false })
    const temporary = await temporaryFolder('s-')
    const { code, output } = await once({ cwd: await projectIn(deep), temporary })
    expect(code, output).toBe(0)
    expect((await readdir(temporary)).filter((name) => name.startsWith('salt-ts-'))).toEqual([])
    await removeFolder(temporary)
  })

  // Where the tests are not run by root, all the others show this.
  if (process.getuid?.() === 0 && everyoneMayRead(project)) {
    test('it works without root, even for a user id without a name', async () => {
      const uid = 54_321
      chownSync(folder, uid, uid)
      const { code, output } = await once({ uid })
      expect(code, output).toBe(0)
      expect(output).toContain(`"user": "${uid}"`)
      expect((await stat(join(folder, '.salt'))).uid).toBe(uid)
    })
  }
})

inOneFolder('an interrupted start', () => {
  beforeAll(() => prepareStart(folder, { multiprocessing: false }))
  test.each(['Starting salt-master', 'Starting salt-minion', '$ salt-key -y', "$ salt '*' cmd.run"])(
    'Ctrl-C at "%s" leaves no process and no temporary file',
    async (moment) => {
      const start = new Start(ONCE_BY_NPM)
      await start.printed(moment)
      await start.pressCtrlC()
      expect(start.code).not.toBe(0)
      expect(start.output).not.toContain('failed:')
    },
  )

  test.each([
    ['right after its fork', () => true],
    ['once it talks to the master', hasLoadedZeromq],
  ] as const)(
    'Ctrl-C that reaches a command first, %s, is not reported as a failure of the command',
    async (_, isDue) => {
      const start = new Start(ONCE_BY_NPM)
      await start.printed("$ salt '*' test.ping")
      // A minion that does not answer gives the command time.
      const minions = withEnvironment(MARK, folder).filter(({ command }) => command.includes('salt-minion'))
      signalAll(
        minions.map(({ pid }) => pid),
        'SIGSTOP',
      )
      const command = await until('the command', () =>
        withEnvironment(MARK, folder).find((one) => one.command.endsWith('test.ping') && isDue(one.pid)),
      )
      process.kill(command.pid, 'SIGINT')
      await until('its end', () => !isAlive(command.pid))
      await start.pressCtrlC()
      expect(start.output).not.toContain('failed:')
    },
  )

  test('Ctrl-C that reaches the master first is not reported as its failure', async () => {
    const start = new Start(ONCE_BY_NPM)
    await start.printed('Starting salt-master')
    const master = await until('the master', () =>
      withEnvironment(MARK, folder).find(({ command }) => command.includes('salt-master')),
    )
    process.kill(master.pid, 'SIGINT')
    await until('its end', () => !isAlive(master.pid))
    await start.pressCtrlC()
    expect(start.output).not.toContain('failed:')
  })

  test('a start after all these works', async () => {
    const { code, output } = await once()
    expect(code, output).toBe(0)
  })
})

inOneFolder('npm start with a configuration that is wrong', () => {
  test('a configuration that is wrong is explained, and the exit code is not 0', async () => {
    await mkdir(join(folder, '.salt'))
    await writeFile(join(folder, '.salt', 'master'), 'worker_threads: many\n', { mode: 0o600 })
    const { code, output } = await once()
    expect(code).not.toBe(0)
    expect(output).toContain('npm start failed:')
    expect(output).toContain('worker_threads')
    expect(ours()).toEqual([])
  })
})

/** Whether a process has loaded ZeroMQ, after it has set its handlers of signals. */
const hasLoadedZeromq = (pid: number): boolean => readFileSync(`/proc/${pid}/maps`, 'utf8').includes('zeromq')

function everyoneMayRead(path: string): boolean {
  return (statSync(path).mode & 0o005) === 0o005 && (path === dirname(path) || everyoneMayRead(dirname(path)))
}

function run(program: string, ...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text))
  return new Promise((done) => child.once('close', (code) => done({ code, output })))
}
