import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { availableParallelism, homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import * as cmd from '../../../modules/cmd.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs, ROOT } from '../../harness/needs.ts'
import { isAlive, withEnvironment } from '../../harness/processes.ts'
import { SLOW } from '../../harness/slow.ts'
import { eventually, until } from '../../harness/until.ts'
import { call, fakeContext } from './context.ts'
import { stubProgram } from './stub.ts'

let folder: string

/** Stands for every function that is called by name. */
const fakeCall = (answer: (...call: unknown[]) => unknown) =>
  (async (...call: unknown[]) => answer(...call)) as unknown as Context['call']

beforeAll(async () => {
  folder = await temporaryFolder('salt-ts-cmd-')
})
afterAll(() => removeFolder(folder))

describe('cmd.run', () => {
  test('goes through the shell when it is a job of its own', async () => {
    expect(await call(cmd.run, { cmd: 'echo a; echo b | tr b c' })).toBe('a\nc')
  })

  test('does not use the shell when another module calls it', async () => {
    const context = fakeContext({ nested: true })
    expect(await call(cmd.run, { cmd: `printf '%s|' 'a b'; $HOME` }, context)).toBe('a b;|$HOME|')
  })

  test('goes through the shell for another module if cmd_safe is false or python_shell is true', async () => {
    const nested = { nested: true }
    expect(
      await call(cmd.run, { cmd: 'echo a; echo b' }, fakeContext({ ...nested, opts: { cmd_safe: false } })),
    ).toBe('a\nb')
    expect(await call(cmd.run, { cmd: 'echo a; echo b', python_shell: true }, fakeContext(nested))).toBe(
      'a\nb',
    )
  })

  test('never passes a list of words to a shell', async () => {
    expect(await call(cmd.run, { cmd: ['printf', '%s|', 'a; b', 3] })).toBe('a; b|3|')
  })

  test('merges stderr into stdout in the order of writing', async () => {
    const cmdLine = 'for i in 1 2 3 4 5; do echo out$i; echo err$i >&2; done'
    expect(await call(cmd.run, { cmd: cmdLine })).toBe(
      [1, 2, 3, 4, 5].flatMap((i) => [`out${i}`, `err${i}`]).join('\n'),
    )
  })

  test('gives a command access to /dev/stdout, /dev/stderr and /dev/stdin by name', async () => {
    const outcome = await call(cmd.run_all, {
      cmd: 'cat /dev/stdin > /dev/stderr; echo b > /dev/stdout',
      stdin: 'a',
    })
    expect(outcome).toMatchObject({ stdout: 'b', stderr: 'a', retcode: 0 })
  })

  test('runs without mkfifo too, then on sockets', SLOW, async () => {
    vi.stubEnv('PATH', folder)
    vi.resetModules() // they keep pipes in store
    const cmd = await import('../../../modules/cmd.ts')
    try {
      const cmdLine = 'echo out; echo err >&2; read line; echo $line; umask'
      const outcome = await call(cmd.run, { cmd: cmdLine, shell: '/bin/sh', stdin: 'in', umask: 77 })
      expect(outcome).toBe('out\nerr\nin\n0077')
      expect(await call(cmd.run_stderr, { cmd: cmdLine, shell: '/bin/sh' })).toBe('err')
    } finally {
      vi.unstubAllEnvs()
    }
  })

  test('keeps the trailing line end if rstrip is false', async () => {
    expect(await call(cmd.run, { cmd: 'echo a; echo', rstrip: false })).toBe('a\n\n')
  })

  test('returns no output if hide_output is set, but the return code', async () => {
    const context = fakeContext()
    expect(await call(cmd.run, { cmd: 'echo a; exit 3', hide_output: true }, context)).toBe('')
    expect(context.retcode).toBe(3)
  })

  test('raises the output if raise_err is set', async () => {
    await expect(call(cmd.run, { cmd: 'echo broken; exit 3', raise_err: true })).rejects.toThrow(
      new CommandExecutionError('broken'),
    )
  })

  test('reads 64 MB of output in linear time', SLOW, async () => {
    const text = (await call(cmd.run, { cmd: 'head -c 67108864 /dev/zero | tr "\\0" x' })) as string
    expect(text).toHaveLength(64 * 1024 * 1024)
  })

  test('starts in the home directory, or in cwd', async () => {
    expect(await call(cmd.run, { cmd: 'pwd' })).toBe(homedir())
    expect(await call(cmd.run, { cmd: 'pwd', cwd: folder })).toBe(folder)
  })

  test.each(['relative', '/nonexistent', '/etc/passwd'])('refuses the cwd %s', async (cwd) => {
    await expect(call(cmd.run, { cmd: 'pwd', cwd })).rejects.toThrow(
      `Specified cwd '${cwd}' either not absolute or does not exist`,
    )
  })

  test('finds a program relative to cwd', async () => {
    await writeFile(join(folder, 'hello'), '#!/bin/sh\necho hello "$1"\n')
    await chmod(join(folder, 'hello'), 0o755)
    expect(await call(cmd.run, { cmd: './hello you', cwd: folder }, fakeContext({ nested: true }))).toBe(
      'hello you',
    )
  })

  test('names the missing program, without its arguments', async () => {
    const failure = call(cmd.run, { cmd: 'nosuchprogram --password c4n4ry', python_shell: false })
    await expect(failure).rejects.toThrow(/^Unable to run command 'nosuchprogram', reason: No such program/)
  })

  test('reports a command line that is too long for the system', async () => {
    await expect(call(cmd.run, { cmd: `true ${'x'.repeat(3_000_000)}` })).rejects.toThrow(
      new CommandExecutionError("Unable to run command 'true', reason: Argument list too long (E2BIG)"),
    )
  })

  test('returns the exit code 127 of a shell that does not find the command', async () => {
    const context = fakeContext()
    expect(await call(cmd.run, { cmd: 'nosuchprogram' }, context)).toContain('nosuchprogram')
    expect(context.retcode).toBe(127)
  })

  test('refuses a missing shell', async () => {
    await expect(call(cmd.run, { cmd: 'echo', shell: '/bin/nosh' })).rejects.toThrow(
      'The shell /bin/nosh is not available',
    )
  })

  test('uses the given shell', async () => {
    expect(await call(cmd.run, { cmd: 'echo $0', shell: '/bin/sh' })).toBe('/bin/sh')
  })

  test.each([
    ['encoded_cmd', { encoded_cmd: true }, /PowerShell/],
    ['an unknown output_encoding', { output_encoding: 'klingon' }, /'klingon' is not supported/],
    ['success_retcodes that are no numbers', { success_retcodes: 'x' }, /must be a list of integers/],
  ])('refuses %s with a reason', async (_, given, reason) => {
    const failure = call(cmd.run, { cmd: `touch ${join(folder, 'ran')}`, ...given })
    await expect(failure).rejects.toThrow(SaltInvocationError)
    await expect(failure).rejects.toThrow(reason)
    await expect(stat(join(folder, 'ran'))).rejects.toThrow('ENOENT')
  })

  test('renders the command and its folder as templates of Jinja, with pillar= over the pillar', async () => {
    const context = fakeContext({ grains: { os: 'Debian' }, pillar: { a: 1, b: 2 } })
    const template = 'jinja'
    const given = {
      cmd: 'echo {{ grains.os }} {{ pillar.a }}{{ pillar.b }}; pwd',
      pillar: { b: 3 },
      template,
    }
    expect(await call(cmd.run, { ...given, cwd: '/{{ "tmp" }}' }, context)).toBe('Debian 13\n/tmp')
    expect(await call(cmd.run, { cmd: ['echo', '{{ 1 + 1 }}', 5], template }, context)).toBe('2 5')
    await expect(call(cmd.run, { cmd: 'touch {{ x }}', template }, context)).rejects.toThrow(
      "Jinja variable 'x' is undefined; line 1",
    )
    const job = { jid: '1', fun: 'cmd.run', arg: [], tgt: '*', tgt_type: 'glob', ret: '' }
    const limited = fakeContext({ job, opts: { cmd_whitelist_glob: ['echo *'] } })
    await expect(call(cmd.run, { cmd: 'echo {{ 1 }}', template }, limited)).rejects.toThrow(
      'template is not permitted: cmd_whitelist_glob or cmd_blacklist_glob limits commands',
    )
    await expect(call(cmd.run, { cmd: 'true', template: 'mako' })).rejects.toThrow(
      'The template engine mako is not available',
    )
  })

  test('treats empty options as omitted', async () => {
    expect(await call(cmd.run, { cmd: 'echo b', template: '', runas: '', group: '' })).toBe('b')
  })

  test('obeys cmd_blacklist_glob and cmd_whitelist_glob for published jobs only', async () => {
    const job = { jid: '1', fun: 'cmd.run', arg: [], tgt: '*', tgt_type: 'glob', ret: '' }
    const opts = { cmd_blacklist_glob: ['rm *'], cmd_whitelist_glob: ['echo *', 'rm *'] }
    const published = () => fakeContext({ opts, job })
    await expect(call(cmd.run, { cmd: 'rm -rf x' }, published())).rejects.toThrow('is not permitted')
    await expect(call(cmd.run, { cmd: ['ls', '/'] }, published())).rejects.toThrow('is not permitted')
    expect(await call(cmd.run, { cmd: 'echo fine' }, published())).toBe('fine')
    expect(await call(cmd.run, { cmd: 'true' }, fakeContext({ opts, job, nested: true }))).toBe('')
  })
})

describe('The return code of the job', () => {
  test.each([
    ['is that of the command', 'exit 4', {}, 4],
    ['is 0 with ignore_retcode', 'exit 4', { ignore_retcode: true }, 0],
    ['is 0 if success_retcodes has it', 'exit 4', { success_retcodes: [3, 4] }, 0],
    ['is 0 if success_retcodes has it as text', 'exit 4', { success_retcodes: '3,4' }, 0],
    ['is 0 if stdout says so', 'echo nothing to do; exit 4', { success_stdout: 'nothing to do' }, 0],
    ['is not 0 only because stderr is mentioned', 'exit 4', { success_stderr: ['nothing'] }, 4],
    ['is negative for a signal', 'kill -9 $$', {}, -9],
  ])('%s', async (_, line, given, expected) => {
    const context = fakeContext()
    await call(cmd.run_all, { cmd: line, ...given }, context)
    expect(context.retcode).toBe(expected)
  })

  test('is returned by cmd.retcode', async () => {
    expect(await call(cmd.retcode, { cmd: 'exit 5' })).toBe(5)
  })
})

describe('Environment', () => {
  test('can be a map, a list of maps or lines', async () => {
    const line = 'echo $A-$B'
    expect(await call(cmd.run, { cmd: line, env: { A: 1, B: true } })).toBe('1-True')
    expect(await call(cmd.run, { cmd: line, env: [{ A: 'x' }, { B: null }] })).toBe('x-')
    expect(await call(cmd.run, { cmd: line, env: 'A=x=y\nB=z' })).toBe('x=y-z')
  })

  test('refuses an invalid environment', async () => {
    await expect(call(cmd.run, { cmd: 'true', env: 5 })).rejects.toThrow('env must be a map')
    await expect(call(cmd.run, { cmd: 'true', env: { 'A=B': 1 } })).rejects.toThrow('name in env')
  })

  test('has only the given variables, and the locale, with clean_env', async () => {
    const printed = await call(cmd.run, {
      cmd: '/usr/bin/env',
      env: { A: '1' },
      clean_env: true,
      python_shell: false,
    })
    const names = String(printed)
      .split('\n')
      .map((line) => line.split('=')[0])
    expect(names).toContain('A')
    expect(names).not.toContain('HOME')
    expect(names.filter((name) => !/^(LC_\w+|LANGUAGE|A)$/.test(name!))).toEqual([])
  })

  test('has the C locale unless reset_system_locale is false or env says otherwise', async () => {
    const line = 'echo $LC_MESSAGES'
    expect(await call(cmd.run, { cmd: line })).toBe('C')
    expect(await call(cmd.run, { cmd: line, env: { LC_MESSAGES: 'de_DE' } })).toBe('de_DE')
  })

  test('puts prepend_path first', async () => {
    expect(await call(cmd.run, { cmd: 'echo $PATH', prepend_path: '/opt/x' })).toMatch(/^\/opt\/x:/)
  })

  test('sets stdin, with \\n for a line end', async () => {
    expect(await call(cmd.run, { cmd: 'wc -l', stdin: 'a\\nb\\n' })).toMatch(/^\s*2$/)
    expect(await call(cmd.run, { cmd: 'cat', stdin: 'a\\nb', stdin_raw_newlines: true })).toBe('a\\nb')
    expect(await call(cmd.run, { cmd: 'cat' })).toBe('')
    expect(await call(cmd.run, { cmd: 'true', stdin: 'x'.repeat(1_000_000) })).toBe('')
  })

  test('has a variable without a value for each name in a list', async () => {
    expect(await call(cmd.run, { cmd: 'echo "$A-$B-"', env: ['A', { B: 'b' }, 'C=c'] })).toBe('-b-')
  })

  test('sets the umask', async () => {
    expect(await call(cmd.run, { cmd: 'umask', umask: '077' })).toBe('0077')
    expect(await call(cmd.run, { cmd: 'umask', umask: 27 })).toBe('0027')
    await expect(call(cmd.run, { cmd: 'umask', umask: '000' })).rejects.toThrow('Zero umask is not allowed.')
    await expect(call(cmd.run, { cmd: 'umask', umask: '8; id' })).rejects.toThrow('Invalid umask')
  })
})

describe('Secrets', () => {
  const canary = 'c4n4ry'
  const secrets = { env: { PASSWORD: canary }, stdin: `${canary}\nmore`, password: canary }

  test.each(['trace', 'debug', 'info', 'error'])(
    'never reach the log at level %s',
    async (output_loglevel) => {
      const context = fakeContext()
      const line = 'cat; echo $PASSWORD >&2; exit 1'
      await call(cmd.run_all, { cmd: line, ...secrets, output_loglevel }, context)
      const log = context.lines.map(({ message }) => message).join('\n')
      expect(log).toContain('**********')
      expect(log).not.toContain(canary)
    },
  )

  test('never reach an error', async () => {
    const given = { cmd: 'nosuchprogram', python_shell: false, ...secrets }
    const failure = await call(cmd.run, given).then(
      () => expect.fail('it ran'),
      (cause: CommandExecutionError) => cause,
    )
    expect(JSON.stringify([failure.message, failure.data, failure.stack])).not.toContain(canary)
  })

  test('nothing is logged with output_loglevel=quiet', async () => {
    const context = fakeContext()
    await call(cmd.run, { cmd: 'echo a; exit 1', output_loglevel: 'quiet' }, context)
    expect(context.lines).toEqual([])
  })

  test('the log names a command by its first word that is no assignment', async () => {
    const context = fakeContext()
    await call(cmd.run, { cmd: `TOKEN=${canary} true --token ${canary}` }, context)
    expect(context.lines.map(({ message }) => message).join()).toContain(
      "Executing command 'true' in directory",
    )
    expect(JSON.stringify(context.lines)).not.toContain(canary)
  })

  test('a long output is cut in the log', async () => {
    const context = fakeContext()
    await call(cmd.run, { cmd: 'head -c 100000 /dev/zero | tr "\\0" x', env: { A: 'xxxxx' } }, context)
    expect(context.lines.at(-1)!.message.length).toBeLessThan(30_000)
  })
})

describe('Encodings', () => {
  test('bytes that are not UTF-8 are replaced, with a warning', async () => {
    const context = fakeContext()
    expect(await call(cmd.run, { cmd: "printf 'a\\377b'" }, context)).toBe('a\ufffdb')
    expect(JSON.stringify(context.lines)).toContain('could not be decoded')
  })

  test('output_encoding is used', async () => {
    expect(await call(cmd.run, { cmd: "printf 'a\\344\\201'", output_encoding: 'latin_1' })).toBe(
      'a\u00e4\u0081',
    )
    expect(await call(cmd.run, { cmd: "printf '\\200'", output_encoding: 'cp1252' })).toBe('€')
    expect(await call(cmd.run, { cmd: "printf 'a\\344'", output_encoding: 'ascii' })).toBe('a\ufffd')
  })
})

describe('Time', () => {
  test('a command that takes too long is killed with all processes it started', SLOW, async () => {
    const context = fakeContext()
    const pids = join(folder, 'pids')
    const line = `sleep 300 & echo $! >> ${pids}; (sleep 301 & echo $! >> ${pids}); sh -c 'echo $$ >> ${pids}; sleep 302'`
    const text = await call(cmd.run, { cmd: line, timeout: 0.5 }, context)
    expect(text).toBe(`${line} : Timed out after 0.5 seconds`)
    expect(context.retcode).toBe(1)
    const alive = (await readFile(pids, 'utf8')).trim().split('\n').map(Number).filter(isAlive)
    expect(alive).toEqual([])
  })

  test(
    'when a command that took too long is given up, none of its processes is left, however slowly they end',
    SLOW,
    async () => {
      const busy = Array.from({ length: 2 * availableParallelism() }, () =>
        spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' }),
      )
      const env = { SALT_TEST_COMMAND: `${folder}/slow` }
      const line = 'for i in $(seq 30); do nice -n 19 sleep 300 & done; wait'
      await call(cmd.run, { cmd: line, env, timeout: 1 }, fakeContext())
      const left = withEnvironment('SALT_TEST_COMMAND', `${folder}/slow`)
      for (const one of busy) one.kill('SIGKILL')
      expect(left).toEqual([])
    },
  )

  test('a command that forks all the time leaves no process when it is killed', SLOW, async () => {
    const env = { SALT_TEST_COMMAND: `${folder}/forking` }
    const line = 'for i in 1 2; do (while :; do sleep 5 > /dev/null 2>&1 & done) & done; wait'
    for (let round = 0; round < 3; round++) {
      await call(cmd.run, { cmd: line, env, timeout: 0.1 }, fakeContext())
      expect(withEnvironment('SALT_TEST_COMMAND', `${folder}/forking`)).toEqual([])
    }
  })

  test('an aborted job stops its command, which can clean up', async () => {
    const controller = new AbortController()
    const ready = join(folder, 'ready')
    const line = `trap 'echo tidy > ${folder}/tidied; exit' TERM; echo > ${ready}; while :; do sleep 0.05; done`
    const failure = call(cmd.run, { cmd: line }, fakeContext({ signal: controller.signal })).catch((e) => e)
    await until('the command to run', () => existsSync(ready))
    controller.abort()
    expect(await failure).toBeInstanceOf(CommandExecutionError)
    expect(await readFile(`${folder}/tidied`, 'utf8')).toBe('tidy\n')
  })

  test('nothing is started for a job that is already aborted', async () => {
    const context = fakeContext({ signal: AbortSignal.abort() })
    await expect(call(cmd.run, { cmd: `touch ${folder}/started` }, context)).rejects.toThrow('was cancelled')
    await expect(stat(`${folder}/started`)).rejects.toThrow('ENOENT')
  })

  test('bg and run_bg do not wait', async () => {
    const command = `echo $$ > ${folder}/background; exec sleep 60`
    expect(await call(cmd.run, { cmd: command, bg: true, timeout: 0.1 })).toBe('')
    await eventually(async () => expect(await readFile(`${folder}/background`, 'utf8')).toMatch(/^\d+\n$/))
    process.kill(Number(await readFile(`${folder}/background`, 'utf8')), 'SIGKILL')
    expect(await call(cmd.run_all, { cmd: 'true', bg: true })).toMatchObject({ stdout: '', retcode: null })
    expect(await call(cmd.retcode, { cmd: 'true', bg: true })).toBeNull()
    const { pid } = (await call(cmd.run_bg, { cmd: 'sleep 60' })) as { pid: number }
    expect(isAlive(pid)).toBe(true)
    process.kill(-pid, 'SIGKILL')
  })
})

test('script starts a copy of a script in the background, and removes it in the end', async () => {
  const [source, said] = [join(folder, 'script.sh'), join(folder, 'said')]
  await writeFile(source, `#!/bin/sh\necho $0 $1 > ${said}.new; mv ${said}.new ${said}\n`)
  expect(await call(cmd.script, { source, args: 'x', bg: true })).toMatchObject({ retcode: null, stdout: '' })
  await eventually(async () => expect(await readFile(said, 'utf8')).toMatch(/ x\n$/))
  const [copy = ''] = (await readFile(said, 'utf8')).split(' ')
  await eventually(async () => expect(stat(copy)).rejects.toThrow('ENOENT'))
})

test('the pid of a script in the background ends it, and its copy is removed, too', async () => {
  const [source, facts] = [join(folder, 'endless.sh'), join(folder, 'facts')]
  await writeFile(source, `#!/bin/sh\necho "$$ $0" > ${facts}.new; mv ${facts}.new ${facts}; exec sleep 60\n`)
  const { pid } = (await call(cmd.script, { source, bg: true })) as { pid: number }
  await eventually(() => expect(existsSync(facts)).toBe(true))
  const [own = '', copy = ''] = (await readFile(facts, 'utf8')).trim().split(' ')
  process.kill(pid)
  await eventually(() => expect([existsSync(copy), isAlive(Number(own))]).toEqual([false, false]))
})

describe('runas', needs(ROOT), () => {
  test('changes user, groups, home and environment', async () => {
    const line = 'id -un; id -gn; echo $USER $HOME; pwd; echo x > /dev/stderr'
    expect(await call(cmd.run, { cmd: line, runas: 'nobody', shell: '/bin/sh' })).toBe(
      `nobody\nnogroup\nnobody /nonexistent\n/\nx`,
    )
  })

  test('sets the supplementary groups of the user, not those of the minion', async () => {
    const { stdout } = await promisify(execFile)('id', ['-G', 'nobody'])
    expect(await call(cmd.run, { cmd: ['id', '-G'], runas: 'nobody' })).toBe(stdout.trim())
  })

  test('sets umask and group together with the user', async () => {
    expect(
      await call(cmd.run, { cmd: 'umask; id -gn', runas: 'nobody', group: 'daemon', umask: '077' }),
    ).toBe('0077\ndaemon')
  })

  test('ignores the profile of the user in the program that changes the user as root', async () => {
    const seen = join(folder, 'setpriv.env')
    const profile = `LD_PRELOAD=/nonexistent/evil.so\\0GREETING=good  "morning" $HOME\\0UID=7\\0`
    await stubProgram(
      join(folder, 'bin'),
      'su',
      `echo "$*" | sed "s/.*printf '%s' '\\(<<<[^']*\\)';.*/\\1/" > ${folder}/m
printf '%s' "$(cat ${folder}/m)"; printf '${profile}'; printf '%s' "$(cat ${folder}/m)"`,
    )
    await stubProgram(
      join(folder, 'bin'),
      'setpriv',
      `env > ${seen}; while [ "$1" != -- ]; do shift; done; shift; exec "$@"`,
    )
    try {
      const line = 'echo $LD_PRELOAD; echo "$GREETING"; echo $USER $HOME; env | grep -c SALT_ENV'
      const printed = await call(cmd.run, {
        cmd: line,
        runas: 'nobody',
        shell: '/bin/sh',
        ignore_retcode: true,
      })
      expect(printed).toContain('/nonexistent/evil.so\ngood  "morning" $HOME\nnobody /nonexistent')
      expect(printed).toMatch(/\n0$/)
      expect(await readFile(seen, 'utf8')).not.toMatch(/^(LD_PRELOAD|GREETING|HOME)=/m)
    } finally {
      vi.unstubAllEnvs()
    }
  })

  test.each([
    [{ runas: 'no such user' }, "User 'no such user' is not available"],
    [{ runas: '--help' }, "User '--help' is not available"],
    [{ group: 'nosuchgroup' }, "Group 'nosuchgroup' is not available"],
  ])('refuses %j', async (given, sentence) => {
    await expect(call(cmd.run, { cmd: 'id', ...given })).rejects.toThrow(sentence)
  })
})

describe('The relatives of cmd.run', () => {
  test('run_stdout, run_stderr and run_all keep the two apart', async () => {
    const line = 'echo out; echo err >&2; exit 2'
    expect(await call(cmd.run_stdout, { cmd: line })).toBe('out')
    expect(await call(cmd.run_stderr, { cmd: line })).toBe('err')
    expect(await call(cmd.run_all, { cmd: line })).toEqual({
      pid: expect.any(Number),
      retcode: 2,
      stdout: 'out',
      stderr: 'err',
    })
    expect(await call(cmd.run_all, { cmd: line, redirect_stderr: true })).toMatchObject({
      stdout: 'out\nerr',
      stderr: '',
    })
  })

  test('shell goes through the shell even when another module calls it', async () => {
    expect(await call(cmd.shell, { cmd: 'echo a; echo b' }, fakeContext({ nested: true }))).toBe('a\nb')
  })

  test('script runs a copy of a local script, which need not be executable', async () => {
    const source = join(folder, 'script.sh')
    await writeFile(source, '#!/bin/sh\nprintf "%s|" "$@"; echo $0 >&2; exit 7\n')
    const context = fakeContext()
    const outcome = await call(cmd.script, { source, args: 'a "b c"' }, context)
    expect(outcome).toMatchObject({ retcode: 7, stdout: 'a|b c|' })
    await expect(stat((outcome as { stderr: string }).stderr)).rejects.toThrow('ENOENT')
    expect(context.retcode).toBe(7)
    expect(await call(cmd.script_retcode, { source, args: ['x'] })).toBe(7)
  })

  test('script renders a template once, and leaves its arguments', async () => {
    const source = join(folder, 'template')
    await writeFile(source, "#!/bin/sh\necho {{ grains.os }} {{ '{{' }} $1\n")
    const context = fakeContext({ grains: { os: 'Debian' } })
    const outcome = await call(cmd.script, { source, template: 'jinja', args: ['{{ 1 }}'] }, context)
    expect(outcome).toMatchObject({ stdout: 'Debian {{ {{ 1 }}' })
  })

  test('script runs a file that names no interpreter in the shell', async () => {
    const source = join(folder, 'plain')
    await writeFile(source, '[[ a == a ]] && echo "b $1 $0"\n')
    const outcome = await call(cmd.script, { source, args: 'x', shell: '/bin/bash' })
    expect(outcome).toMatchObject({ retcode: 0, stdout: expect.stringMatching(/^b x \/.*\/salt-cmd-/) })
  })

  test.each([false, true])(
    'the script is checked against the permitted commands, not the shell that runs it (bg: %s)',
    async (bg) => {
      const source = join(folder, 'plain')
      await writeFile(source, 'true\n')
      const job = { jid: '1', fun: 'cmd.script', arg: [], tgt: '*', tgt_type: 'glob', ret: '' }
      const opts = { cmd_whitelist_glob: [`${tmpdir()}/salt-cmd-*`] }
      const outcome = await call(cmd.script, { source, bg }, fakeContext({ opts, job }))
      expect(outcome).toMatchObject({ pid: expect.any(Number) })
    },
  )

  test.each(['salt://a.sh', 'http://h/a.sh', 'https://h/a.sh'])(
    'script fetches %s into the cache and runs it from there',
    async (source) => {
      const cached = join(folder, 'cached.sh')
      await writeFile(cached, '#!/bin/sh\necho "$1"')
      const asked: unknown[] = []
      const context = fakeContext({ call: fakeCall((...call) => asked.push(call) && cached) })
      const outcome = await call(cmd.script, { source, args: ['x'], saltenv: 'dev' }, context)
      expect(outcome).toMatchObject({ retcode: 0, stdout: 'x' })
      expect(asked).toEqual([['cp.cache_file', [source], { saltenv: 'dev' }]])
    },
  )

  test('script reports a file that is not on the file server', async () => {
    const context = fakeContext({ call: fakeCall(() => false) })
    expect(await call(cmd.script, { source: 'salt://no.sh' }, context)).toMatchObject({
      retcode: 1,
      stderr: 'salt://no.sh is not on the file server',
      cache_error: true,
    })
    expect(context.retcode).toBe(1)
  })

  test('script reports why it could not read a file', async () => {
    expect(await call(cmd.script, { source: '/nonexistent' })).toEqual({
      pid: 0,
      retcode: 1,
      stdout: '',
      stderr: 'Cannot read /nonexistent: ENOENT',
      cache_error: true,
    })
  })

  test('exec_code runs text with an interpreter', async () => {
    expect(await call(cmd.exec_code, { lang: 'sh', code: 'echo "$1"; exit 3', args: ['a b'] })).toBe('a b')
    expect(await call(cmd.exec_code_all, { lang: 'sh', code: 'exit 3' })).toMatchObject({ retcode: 3 })
  })

  test('script and exec_code accept the options of cmd.run', SLOW, async () => {
    const source = join(folder, 'options.sh')
    await writeFile(source, '#!/bin/sh\npwd; umask; echo $A; cat; exit 4\n')
    const given = { cwd: folder, umask: '077', env: { A: 'a' }, stdin: 'in', success_retcodes: [4] }
    const stdout = `${folder}\n0077\na\nin`
    expect(await call(cmd.script, { source, ...given })).toMatchObject({ stdout, retcode: 0 })
    const code = await readFile(source, 'utf8')
    expect(await call(cmd.exec_code_all, { lang: 'sh', code, ...given })).toMatchObject({
      stdout,
      retcode: 0,
    })
    expect(await call(cmd.script, { source: `file://${source}`, timeout: 0.2, stdin: '' })).toMatchObject({
      retcode: 4,
    })
    const slow = { lang: 'sh', code: 'sleep 60', timeout: 0.2 }
    expect(await call(cmd.exec_code_all, slow)).toMatchObject({
      stdout: expect.stringMatching(/Timed out after 0.2 seconds$/),
      retcode: 1,
    })
  })

  test('which, which_bin and has_exec look in the PATH', async () => {
    expect(await call(cmd.which, { cmd: 'sh' })).toMatch(/\/sh$/)
    expect(await call(cmd.which, { cmd: 'nosuchprogram' })).toBeNull()
    expect(await call(cmd.which_bin, { cmds: ['nosuchprogram', 'sh'] })).toMatch(/\/sh$/)
    expect(await call(cmd.has_exec, { cmd: 'sh' })).toBe(true)
    expect(await call(cmd.has_exec, { cmd: '/etc' })).toBe(false)
  })

  test('shells and shell_info describe installed shells', async () => {
    expect(await call(cmd.shells)).toContain('/bin/sh')
    expect(await call(cmd.shell_info, { shell: 'perl' })).toMatchObject({
      installed: true,
      path: expect.any(String),
    })
    expect(await call(cmd.shell_info, { shell: 'nosh' })).toMatchObject({ installed: null })
  })

  test.each(['tty/../../etc/passwd', 'sda', '../x'])('tty refuses %s', async (device) => {
    expect(await call(cmd.tty, { device, echo: 'x' })).toEqual({
      Error: 'The specified device is not a valid TTY',
    })
  })

  test('run_chroot refuses an invalid root', async () => {
    await expect(call(cmd.run_chroot, { root: '/nonexistent', cmd: 'id' })).rejects.toThrow(
      'must be an existing',
    )
    await expect(call(cmd.run_chroot, { root: '/', cmd: 'id' })).rejects.toThrow('not /')
  })

  test('powershell is refused with a reason', async () => {
    for (const fn of [cmd.powershell, cmd.powershell_all])
      await expect(call(fn, { cmd: 'x' })).rejects.toThrow('Windows minions')
  })
})
