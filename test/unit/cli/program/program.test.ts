import { chmod, mkdir, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import Salt from '../../../../core/cli/commands/salt.ts'
import SaltApi from '../../../../core/cli/commands/salt-api.ts'
import SaltCall from '../../../../core/cli/commands/salt-call.ts'
import SaltKey from '../../../../core/cli/commands/salt-key.ts'
import SaltMaster from '../../../../core/cli/commands/salt-master.ts'
import SaltMinion from '../../../../core/cli/commands/salt-minion.ts'
import SaltRun from '../../../../core/cli/commands/salt-run.ts'
import { exitCodeFrom, type Program } from '../../../../core/cli/program/program.ts'
import { flagsOf } from '../../../../core/cli/program/typed-options.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { SLOW } from '../../../harness/slow.ts'
import { captured } from '../../../harness/terminal.ts'

const programs: [string, Program][] = [Salt, SaltApi, SaltCall, SaltKey, SaltMaster, SaltMinion, SaltRun].map(
  (program) => [program.id, program],
)

const folderOfNothing = await temporaryFolder('salt-ts-nothing-')
let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('salt-ts-cli-')
  for (const role of ['master', 'minion'])
    await writeFile(join(folder, role), `root_dir: ${folder}\nid: cli\n`)
})
afterAll(async () => {
  await removeFolder(folder)
  await removeFolder(folderOfNothing)
})

const run = (program: Program, ...argv: string[]) => captured(() => exitCodeFrom(program, argv))

describe.each(programs)('%s', (name, program) => {
  test('--version prints one line', async () => {
    const { result, stdout } = await run(program, '--version')
    expect(stdout).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(salt-ts\\)\\n$`))
    expect(result).toBe(0)
  })

  test('-V reports versions of what it is made of', async () => {
    const { stdout } = await run(program, '-V')
    expect(stdout).toMatch(/^Salt Version:\n +Salt: \d/)
    expect(stdout).toMatch(/\nDependency Versions:\n(?:.*\n)* +lmdb: \d/)
    expect(stdout).toMatch(/zeromq: \d/)
    expect(stdout).toMatch(/\nSystem Versions:\n +dist: \w/)
  })

  test('--help-all names every flag', async () => {
    const { result, stdout } = await run(program, 'x', '--help-all')
    for (const flag of Object.keys(program.flags ?? {})) expect(stdout).toContain(`--${flag}`)
    expect(result).toBe(0)
  })

  test('--help fits on a screen, and its options exist', async () => {
    const { result, stdout } = await run(program, 'x', '--help')
    const lines = stdout.trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(24)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(100)
    expect(stdout).toContain(`Usage: ${name} `)
    expect(stdout).toContain('Examples:')
    expect(Object.keys(program.flags ?? {})).toEqual(expect.arrayContaining([...(program.essential ?? [])]))
    expect(result).toBe(0)
  })

  test('an unknown flag causes a sentence on standard error and exit code 64', async () => {
    const { result, stdout, stderr } = await run(program, '--bogus')
    expect(stderr).toBe(`${name}: error: There is no option --bogus.\nSee '${name} --help'.\n`)
    expect(stdout).toBe('')
    expect(result).toBe(64)
  })
})

describe('--help after the name of a function', () => {
  test('shows the parameters, defaults and the result of a runner', async () => {
    await mkdir(join(folder, 'runners'))
    await writeFile(
      join(folder, 'runners/shop.ts'),
      `import { fn, p } from 'salt-ts'
/** Count what is sold. */
export const sold = fn({ days: p.default(p.integer({ minimum: 1 }), 7) }, ({ days }) => days, { returns: p.integer() })
`,
    )
    const { result, stdout } = await run(SaltRun, '-c', folder, '-m', folder, 'shop.sold', '--help')
    expect(stdout).toBe(
      'shop.sold:\n\n    Count what is sold.\n\n    Parameters:\n\n        days: integer, at least 1, default 7\n\n' +
        '    Returns:\n\n        integer\n\n',
    )
    expect(result).toBe(0)
  })

  test.each<[Program, string[], string]>([
    [SaltRun, ['-h', 'manage.up'], 'manage.up:\n'],
    [SaltRun, ['wheel', 'key.accept', '--help'], 'key.accept:\n'],
    [SaltCall, ['--local', 'test.echo', 'text', '--help'], 'test.echo:\n'],
    [SaltRun, ['--out', 'a.b', '--help'], 'Usage: salt-run'],
    [SaltRun, ['manage.up', '--help-all'], 'Usage: salt-run'],
    [Salt, ['web.example', 'test.ping', '--help'], 'Usage: salt '],
  ])('%o %j', SLOW, async (program, words, beginning) => {
    const { stdout } = await run(program, '-c', folder, ...words)
    expect(stdout.slice(0, beginning.length)).toBe(beginning)
  })

  test('a function that does not exist is refused', async () => {
    const { result, stderr } = await run(SaltRun, '-c', folder, 'manage.upp', '--help')
    expect(stderr).toContain("There is no function or module 'manage.upp'.")
    expect(result).toBe(64)
  })
})

describe('the options of Salt', () => {
  const common =
    '--version -V --versions-report -h --help -c --config-dir --saltfile --log-file --log-file-level'
  const level = '-l --log-level'
  const output =
    '--out --output --out-indent --output-indent --out-file --output-file --out-file-append --output-file-append --no-color --no-colour --force-color --force-colour --state-output --state_output --state-verbose --state_verbose'
  const auth = '--auth --eauth --external-auth -T --make-token --username --password'
  const words = '--args-stdin --no-parse --hard-crash'
  const daemon = `${common} ${level} -d --daemon -u --user --pid-file --hard-crash`
  test.each([
    [
      Salt,
      `${common} ${level} ${output} ${auth} ${words} -a -E --pcre -L --list -G --grain -P --grain-pcre -N --nodegroup -R --range -C --compound
      -I --pillar -J --pillar-pcre -S --ipcidr -H --hosts --delimiter -t --timeout --async -s --static -v --verbose --show-jid --show-timeout
      --hide-timeout -b --batch --batch-size --batch-wait --batch-safe-limit --batch-safe-size --failhard --subset -p --progress --summary
      --return --return_config --return_kwargs --metadata --module-executors --executor-opts -d --doc --documentation --args-separator
      --preview-target --config-dump --output-diff`,
    ],
    [
      SaltRun,
      `${common} ${level} ${output} ${auth} ${words} -a -t --timeout --jid --async -d --doc --documentation --skip-grains --quiet
      --profiling-path --enable-profiling`,
    ],
    [
      SaltKey,
      `${common} --log-level ${output} ${auth} --hard-crash -L --list-all -l --list -a --accept -A --accept-all -r --reject -R --reject-all
      --include-all --include-accepted --include-rejected --include-denied -p --print -P --print-all -d --delete -D --delete-all -f --finger
      -F --finger-all -q --quiet -y --yes -u --user --rotate-aes-key --preserve-minions --gen-keys --gen-keys-dir --keysize --gen-signature
      --priv --pub --signature-path --auto-create`,
    ],
    [
      SaltCall,
      `${common} ${level} ${output} ${words} --local --master --id -g --grains -m --module-dirs -d --doc --documentation --return --file-root
      --pillar-root --states-dir --retcode-passthrough --metadata --set-metadata --skip-grains --refresh-grains-cache --no-return-event -t
      --timeout --cachedir --proxyid --module-executors --executor-opts --profiling-path --enable-profiling --output-diff`,
    ],
    [SaltMaster, daemon],
    [SaltMinion, daemon],
  ] as [Program, string][])('are all accepted by %#', (program, names) => {
    const known = flagsOf(program).flatMap(([name, { char, aliases = [] }]) => [
      ...[name, ...aliases].map((long) => `--${long}`),
      `-${char}`,
    ])
    const missing = names.split(/\s+/).filter((name) => !known.includes(name))
    expect(missing).toEqual([])
  })
})

describe('usage', () => {
  test.each([
    [Salt, [], 'Name a target'],
    [Salt, ['*'], 'Name the function'],
    [Salt, ['*', 'test.ping', '-t', 'soon'], "--timeout needs a number, not 'soon'"],
    [Salt, ['*', 'test.ping', '-b', 'many'], 'Invalid batch data sent: many.'],
    [Salt, ['*', 'test.ping', '-b', '0%', '--async'], 'Invalid batch data sent: 0%.'],
    [
      Salt,
      ['*', 'test.ping', '-b', '1', '--batch-max-fail', 'x'],
      'Invalid batch data sent: x minions may fail',
    ],
    [
      Salt,
      ['*', 'test.ping', '-b', '1', '--stream'],
      '--stream follows one job, and a batch consists of several',
    ],
    [Salt, ['*', 'test.ping', '--sumary'], 'There is no option --sumary; did you mean --summary?'],
    [SaltKey, ['--include'], '--include-all or --include-accepted or'],
    [Salt, ['*', 'test.ping', '-T'], 'Name the backend that checks the credentials'],
    [Salt, ['*', 'test.ping', '--state-verbose', 'some'], "--state-verbose needs True or False, not 'some'"],
    [SaltRun, ['-T', 'jobs.active'], 'Name the backend that checks the credentials'],
    [
      SaltKey,
      ['--gen-keys', 'x', '--eauth', 'pam'],
      '--gen-keys works on local files only; leave out --eauth',
    ],
    [SaltCall, ['test.ping', '--proxyid', 'x'], 'There are no proxy minions'],
    [SaltCall, ['test.ping', '--module-executors', '{a: 1}'], '--module-executors needs a list'],
    [SaltCall, ['test.ping', '--set-metadata', 'x'], '--set-metadata needs a map'],
    [Salt, ['-t'], 'The option --timeout needs a value.'],
    [
      SaltKey,
      ['--preserve-minions', '-y'],
      'The option --preserve-minions needs one of these values: True, true, False, false.',
    ],
    [Salt, ['*', 'test.ping', '-l', 'loud'], 'Expected --log-level=loud to be one of'],
    [
      Salt,
      ['*', 'test.ping', '--out', 'bogus'],
      "no outputter 'bogus'. There are: highstate, json, key, nested",
    ],
    [SaltCall, ['--local'], 'Name the function'],
    [SaltKey, ['-a', 'x', '-d', 'y'], '--accept and --delete cannot be given together'],
    [SaltKey, ['-l', 'bogus'], "not 'bogus'"],
  ] as [Program, string[], string][])('%# is refused with a sentence', async (program, argv, sentence) => {
    const { result, stdout, stderr } = await run(program, ...argv, '-c', folder)
    expect(stderr).toContain(sentence)
    expect(stdout).toBe('')
    expect(result).toBe(64)
  })

  test('--hard-crash shows the stack of an error', async () => {
    const { stderr } = await run(Salt, '-c', folder, '*', 'test.ping', '--hard-crash')
    expect(stderr).toMatch(/\n +at .*master-requests\.ts/)
  })

  test('--enable-profiling writes a profile, for its user alone', SLOW, async () => {
    const path = join(folder, 'profiles')
    const words = ['--local', '-c', folder, '--enable-profiling', '--profiling-path', path, 'test.ping']
    const { result } = await run(SaltCall, ...words)
    const [name = ''] = await readdir(path)
    expect(JSON.parse(await readFile(join(path, name), 'utf8'))).toHaveProperty('nodes')
    expect((await stat(join(path, name))).mode & 0o777).toBe(0o600)
    expect(result).toBe(0)
  })

  test('metadata that is set goes with the return; grains are left out on demand', async () => {
    const words = ['--local', '-c', folder, '--out', 'json', '--metadata', '--set-metadata', '{a: 1}']
    const { stdout } = await run(SaltCall, ...words, '--skip-grains', 'grains.items')
    expect(JSON.parse(stdout).local).toMatchObject({ metadata: { a: 1 }, return: {} })
  })

  test('--log-file-level alone logs to the file of the configuration', SLOW, async () => {
    const configured = await mkdtemp(join(folder, 'log-'))
    await writeFile(join(configured, 'minion'), `root_dir: ${configured}\nid: cli\nnonsense: 1\n`)
    const levels = ['-l', 'quiet', '--log-file-level', 'warning']
    await run(SaltCall, '--local', '-c', configured, ...levels, 'test.ping')
    expect(await readFile(join(configured, 'var/log/salt/minion'), 'utf8')).toContain('nonsense')
  })

  test('--config-dump shows the effective configuration', async () => {
    const { result, stdout } = await run(Salt, '-c', folder, '--config-dump')
    expect(stdout).toContain(`root_dir: ${folder}`)
    expect(stdout).toContain('worker_threads: ')
    expect(result).toBe(0)
  })

  test('of an option that is typed several times the last one counts', async () => {
    const words = [
      '--local',
      '-c',
      folder,
      '--out',
      'nosuch',
      '--output=nosuch',
      '--out=json',
      'test.arg',
      'out',
    ]
    const { stdout } = await run(SaltCall, ...words)
    expect(JSON.parse(stdout).local.args).toEqual(['out'])
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

  test('without a master the exit code is 69', async () => {
    const { result, stderr } = await run(Salt, '-c', folder, '*', 'test.ping')
    expect(stderr).toMatch(/^ERROR: .*Is salt-master running/)
    expect(result).toBe(69)
  })

  test.each<[Program, string[], number]>([
    [Salt, ['*'], 42],
    [Salt, ['*', 'test.ping', '--bogus'], 64],
    [Salt, ['*', 'test.ping'], 0],
    [Salt, ['-E', '(', 'test.ping'], 2],
    [SaltRun, ['no.such'], 0],
    [SaltKey, ['-l', 'bogus'], 64],
    [SaltCall, ['--local', 'no.such'], 255],
    [SaltCall, ['--local', 'test.false'], 0],
  ])("with salt_exit_codes: legacy it is Salt's: %#", SLOW, async (program, argv, code) => {
    const legacy = await mkdtemp(join(folder, 'legacy-'))
    for (const role of ['master', 'minion'])
      await writeFile(join(legacy, role), `root_dir: ${folder}\nid: cli\nsalt_exit_codes: legacy\n`)
    expect((await run(program, ...argv, '-c', legacy)).result).toBe(code)
  })

  test('salt-key makes a key pair, and never replaces one', SLOW, async () => {
    const { result, stdout } = await run(SaltKey, '--gen-keys', 'web01', '--gen-keys-dir', folder)
    expect(result).toBe(0)
    expect(stdout).toMatch(/^return:\n {4}(?:[0-9a-f]{2}:){31}[0-9a-f]{2}\n$/)
    expect(await readFile(join(folder, 'web01.pub'), 'utf8')).toMatch(/^-----BEGIN PUBLIC KEY-----/)
    expect((await run(SaltKey, '--gen-keys', 'web01', '--gen-keys-dir', folder)).stdout).toBe(stdout)
  })
})

describe('defaults of a Saltfile', () => {
  const written = async (text: string) => {
    const path = join(await mkdtemp(join(folder, 'saltfile-')), 'Saltfile')
    await writeFile(path, text)
    return path
  }
  const call = (path: string, ...argv: string[]) =>
    run(SaltCall, '--saltfile', path, '--local', '-c', folder, ...argv, 'test.arg', 'a')

  test("set options by their names, in either spelling, or by Salt's internal names", SLOW, async () => {
    const path = await written(
      'salt: {output: yaml}\nsalt-call:\n  output: json\n  output_indent: -1\n  print_metadata: true\n  set_metadata: {a: 1}\n',
    )
    const { stdout } = await call(path)
    expect(JSON.parse(stdout).local).toMatchObject({ fun: 'test.arg', metadata: { a: 1 } })
    expect(stdout.trim().split('\n')).toHaveLength(1)
  })

  test('are overridden by typed options', SLOW, async () => {
    const path = await written('salt-call:\n  out: json\n')
    expect((await call(path, '--out', 'txt')).stdout).toMatch(/^local: /)
    expect((await call(path)).stdout).toMatch(/^\{/)
  })

  test('with a misspelt name are reported', async () => {
    const { result, stderr } = await call(await written('salt-call:\n  ouput: json\n'))
    expect(stderr).toContain('salt-call has no option ouput; did you mean output?')
    expect(result).toBe(0)
  })

  test('that other users may write are refused', async () => {
    const path = await written('salt-call:\n  config_dir: /tmp\n')
    await chmod(path, 0o666)
    const { result, stderr } = await call(path)
    expect(stderr).toContain('can be changed by other users')
    expect(result).toBe(77)
  })

  test('that are named and do not exist are an error', async () => {
    const { result, stderr } = await call(join(folder, 'nosuch'))
    expect(stderr).toContain(`There is no Saltfile ${join(folder, 'nosuch')}.`)
    expect(result).toBe(64)
  })
})
