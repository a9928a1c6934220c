import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import Salt from '../../../core/cli/commands/salt.ts'
import SaltCall from '../../../core/cli/commands/salt-call.ts'
import SaltKey from '../../../core/cli/commands/salt-key.ts'
import SaltMaster from '../../../core/cli/commands/salt-master.ts'
import SaltMinion from '../../../core/cli/commands/salt-minion.ts'
import SaltRun from '../../../core/cli/commands/salt-run.ts'
import { outcomeOf, type Program } from '../../../core/cli/program.ts'
import { captured } from '../../harness/terminal.ts'

const programs: [string, Program][] = [Salt, SaltCall, SaltKey, SaltMaster, SaltMinion, SaltRun].map(
  (program) => [program.id, program],
)

const folderOfNothing = '/nonexistent'
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'salt-ts-cli-'))
  for (const role of ['master', 'minion'])
    await writeFile(join(folder, role), `root_dir: ${folder}\nid: cli\n`)
})
afterAll(() => rm(folder, { recursive: true }))

const run = (program: Program, ...argv: string[]) => captured(() => outcomeOf(program, argv))

describe.each(programs)('%s', (name, program) => {
  test('--version prints one line', async () => {
    const { result, stdout } = await run(program, '--version')
    expect(stdout).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(salt-ts\\)\\n$`))
    expect(result).toBe(0)
  })

  test('-V reports versions of what it is made of', async () => {
    const { stdout } = await run(program, '-V')
    expect(stdout).toMatch(/zeromq: \d/)
    expect(stdout).toMatch(/node: \d/)
  })

  test('--help names every flag', async () => {
    const { result, stdout } = await run(program, 'x', '--help')
    for (const flag of Object.keys(program.flags ?? {})) expect(stdout).toContain(`--${flag}`)
    expect(result).toBe(0)
  })

  test('an unknown flag is a sentence on standard error and exit code 64', async () => {
    const { result, stdout, stderr } = await run(program, '--bogus')
    expect(stderr).toBe(`${name}: error: Nonexistent flag: --bogus\nSee '${name} --help'.\n`)
    expect(stdout).toBe('')
    expect(result).toBe(64)
  })
})

describe('usage', () => {
  test.each([
    [Salt, [], 'Say which minions'],
    [Salt, ['*'], 'Say which function'],
    [Salt, ['*', 'test.ping', '-t', 'soon'], "--timeout needs a number, not 'soon'"],
    [Salt, ['*', 'test.ping', '-b', 'many'], 'Invalid batch data sent: many.'],
    [Salt, ['*', 'test.ping', '-b', '0%', '--async'], 'Invalid batch data sent: 0%.'],
    [
      Salt,
      ['*', 'test.ping', '-b', '1', '--batch-max-fail', 'x'],
      'Invalid batch data sent: x minions may fail',
    ],
    [Salt, ['*', 'test.ping', '-b', '1', '--stream'], '--stream follows one job, and a batch is many'],
    [Salt, ['*', 'test.ping', '--eauth', 'pam'], "Salt's --eauth is not there yet"],
    [SaltRun, ['-a', 'pam', 'jobs.active'], "Salt's -a is not there yet"],
    [Salt, ['*', 'test.ping', '-l', 'loud'], 'Expected --log-level=loud to be one of'],
    [Salt, ['*', 'test.ping', '--out', 'bogus'], "no outputter 'bogus'. There are: json, key, nested"],
    [SaltRun, ['--async', 'jobs.active'], 'not there yet'],
    [SaltCall, ['--local'], 'Say which function'],
    [SaltKey, ['-a', 'x', '-d', 'y'], '--accept and --delete cannot be given together'],
    [SaltKey, ['-l', 'bogus'], "not 'bogus'"],
  ] as [Program, string[], string][])('%# is refused with a sentence', async (program, argv, sentence) => {
    const { result, stdout, stderr } = await run(program, ...argv, '-c', folder)
    expect(stderr).toContain(sentence)
    expect(stdout).toBe('')
    expect(result).toBe(64)
  })

  test('--config-dump shows the configuration as it is in effect', async () => {
    const { result, stdout } = await run(Salt, '-c', folder, '--config-dump')
    expect(stdout).toContain(`root_dir: ${folder}`)
    expect(stdout).toContain('worker_threads: ')
    expect(result).toBe(0)
  })

  test('a word after -- is never a flag', async () => {
    const { stderr } = await run(Salt, '-c', folder, '*', 'test.arg', '--', '--version', '-h')
    expect(stderr).toContain('The master is not responding')
  })

  test.each([
    [
      ['1', '2', '1', ',', 'a', ','],
      [1, 2, 1, ',', 'a', ','],
    ],
    [
      ['-t', '5', '7', '5'],
      [7, 5],
    ],
    [
      ['b', '-m', folderOfNothing, 'a', '--', 'a', '-t', folderOfNothing],
      ['b', 'a', 'a', '-t', folderOfNothing],
    ],
  ])('words stay where they were typed, however often they occur: %j', async (words, args) => {
    const { stdout } = await run(SaltCall, '--local', '-c', folder, '--out', 'json', 'test.arg', ...words)
    expect(JSON.parse(stdout).local.args).toEqual(args)
  })

  test('without a master the exit code is 2', async () => {
    const { result, stderr } = await run(Salt, '-c', folder, '*', 'test.ping')
    expect(stderr).toMatch(/^ERROR: .*Is salt-master running/)
    expect(result).toBe(2)
  })

  test('salt-key makes a key pair, and never over another one', async () => {
    const { result, stdout } = await run(SaltKey, '--gen-keys', 'web01', '--gen-keys-dir', folder)
    expect(result).toBe(0)
    expect(stdout).toBe(`${folder}/web01.pem\n${folder}/web01.pub\n`)
    expect(await readFile(join(folder, 'web01.pub'), 'utf8')).toMatch(/^-----BEGIN PUBLIC KEY-----/)
    expect((await run(SaltKey, '--gen-keys', 'web01', '--gen-keys-dir', folder)).result).toBe(1)
  })
})
