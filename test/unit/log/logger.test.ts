import { readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Secret } from '../../../core/base/secret.ts'
import { component, createLogger, type LogFormats } from '../../../core/log/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

function terminal(level = 'all', formats: LogFormats = {}) {
  const lines: string[] = []
  const stream = { write: (text: string) => lines.push(text) }
  return { lines, log: createLogger({ program: 'salt-master', console: { level, stream }, formats }) }
}

describe('on the terminal', () => {
  test('a line is level and message, as in Salt', () => {
    const { lines, log } = terminal()
    log.info('started')
    log.warn('100% %s %d')
    expect(lines).toEqual(['[INFO    ] started\n', '[WARNING ] 100% %s %d\n'])
  })

  test('every level of Salt has its name', () => {
    const { lines, log } = terminal()
    for (const level of [
      'garbage',
      'trace',
      'debug',
      'profile',
      'info',
      'warn',
      'error',
      'critical',
    ] as const)
      log[level]('x')
    expect(lines.join('').match(/[A-Z]+/g)).toEqual([
      'GARBAGE',
      'TRACE',
      'DEBUG',
      'PROFILE',
      'INFO',
      'WARNING',
      'ERROR',
      'CRITICAL',
    ])
  })

  test('only levels at least as severe as the configured one are shown', () => {
    const { lines, log } = terminal('warning')
    log.info('no')
    log.warn('yes')
    expect(lines).toHaveLength(1)
    expect([log.isLevelEnabled('info'), log.isLevelEnabled('warning')]).toEqual([false, true])
  })

  test('nothing is shown when quiet', () => {
    const { lines, log } = terminal('quiet')
    log.critical('no')
    expect(lines).toEqual([])
  })

  test('facts follow the message', () => {
    const { lines, log } = terminal()
    log.info('key accepted', {
      id: 'web1',
      minions: ['a b'],
      gone: undefined,
      big: 12n,
      bytes: Buffer.alloc(3),
    })
    expect(lines).toEqual(['[INFO    ] key accepted id=web1 minions=["a b"] big=12 bytes="<3 bytes>"\n'])
  })

  test('facts replace their placeholders in the message, which is not built for a line that is not shown', () => {
    const { lines, log } = terminal('debug')
    log.debug('Sending event: tag = {tag}; data = {data} {other}', { tag: 'salt/x', data: { a: 1 }, b: 2 })
    expect(lines).toEqual(['[DEBUG   ] Sending event: tag = salt/x; data = {"a":1} {other} b=2\n'])
    const data = vi.fn()
    log.trace('{data}', { toJSON: data })
    expect(data).not.toHaveBeenCalled()
  })

  test('errors are shown with their stack, indented', () => {
    const { lines, log } = terminal()
    log.error('failed', { error: new Error('no disk') })
    expect(lines[0]).toMatch(/^\[ERROR {3}\] failed error="no disk"\n {4}Error: no disk\n {4} {4}at /)
    log.error('failed', new Error('alone'))
    expect(lines[1]).toContain('error="alone"')
  })

  test('cycles and deep nesting do no harm', () => {
    const { lines, log } = terminal()
    const cycle: Record<string, unknown> = { name: 'x' }
    cycle.self = cycle
    log.info('cycle', { cycle, map: new Map([[{}, 1]]) })
    expect(lines[0]).toContain('…')
  })
})

describe('formats', () => {
  test('are those of Python', () => {
    const format =
      '%(levelname)5s|%(levelname)-8s|%(levelno)03d|%(msecs)03d|%(name).4s|%(message)s|%(nothing)s|100%%'
    const { lines, log } = terminal('all', { log_fmt_console: format })
    log.child('channel').info('hello')
    expect(lines[0]).toMatch(/^ INFO\|INFO {4}\|020\|\d{3}\|salt\|hello\|\|100%\n$/)
  })

  test('have the logger of a line, and the values of Python where it is unknown', () => {
    const names = ['name', 'module', 'process', 'processName', 'thread', 'threadName', 'lineno', 'funcName']
    const format = [...names, 'filename', 'pathname'].map((name) => `%(${name})s`).join('|')
    const { lines, log } = terminal('all', { log_fmt_console: format })
    const told = log.child('channel.server')
    told.info('x')
    told.child('loaded.int.module.cmd', { process: 4711, processName: 'JobProcess' }).info('x')
    const nowhere = '0|(unknown function)|(unknown file)|(unknown file)\n'
    const thread = `${threadId}|${threadId === 0 ? 'MainThread' : `Thread-${threadId}`}`
    expect(lines).toEqual([
      `salt.channel.server|server|${process.pid}|MainProcess|${thread}|${nowhere}`,
      `salt.loaded.int.module.cmd|cmd|4711|JobProcess|${thread}|${nowhere}`,
    ])
  })

  test('have the fields in brackets that Salt has', () => {
    const format = '%(colorlevel)s%(bracketlevel)s%(colorname)s%(bracketname)s%(bracketprocess)s'
    const { lines, log } = terminal('all', { log_fmt_console: format })
    log.child('crypt', { process: 12, processName: 'x' }).info('x')
    const name = '[salt.crypt       ]'
    expect(lines).toEqual([`[INFO    ][INFO    ]${name}${name}[   12]\n`])
  })

  test('have dates as strftime writes them', () => {
    vi.useFakeTimers({ now: new Date(2026, 0, 5, 4, 3, 2, 1) })
    const log_datefmt = '%Y-%m-%d %H:%M:%S %j %I%p %b %a %% %Q'
    const { lines, log } = terminal('all', { log_fmt_console: '%(asctime)s,%(msecs)03d', log_datefmt })
    log.info('x')
    vi.useRealTimers()
    expect(lines).toEqual(['2026-01-05 04:03:02 005 04AM Jan Mon % %Q,001\n'])
  })
})

describe('components', () => {
  test('have names of their own', () => {
    const { lines, log } = terminal('all', { log_fmt_console: '%(name)s' })
    log.info('x')
    log.child('channel').child('channel.server').info('x')
    createLogger({
      program: 'salt-run',
      console: { level: 'all', stream: { write: (text) => lines.push(text) } },
      formats: { log_fmt_console: '%(name)s' },
    }).info('x')
    expect(lines).toEqual(['salt.master\n', 'salt.channel.server\n', 'salt.cli.run\n'])
  })

  test('can be created from any log', () => {
    const { lines, log } = terminal('all', { log_fmt_console: '%(name)s' })
    component(log, 'crypt').info('x')
    const { info, ...rest } = log
    const plain = { info, trace: rest.trace, debug: rest.debug, warn: rest.warn, error: rest.error }
    component(plain, 'crypt').info('x')
    expect(lines).toEqual(['salt.crypt\n', 'salt.master\n'])
  })

  test('can have levels of their own, with or without the prefix of Salt', () => {
    const { lines, log } = terminal('error', {
      log_granular_levels: { 'salt.minion': 'debug', loader: 'quiet' },
    })
    log.info('no')
    log.child('minion.link').debug('yes')
    log.child('minions').debug('no')
    log.child('loader').critical('no')
    expect(lines).toEqual(['[DEBUG   ] yes\n'])
    expect(log.child('minion').isLevelEnabled('debug')).toBe(true)
  })
})

describe('text from peers', () => {
  test('cannot begin a line of its own or control the terminal', () => {
    const { lines, log } = terminal()
    log.info('id is web1\n[ERROR   ] forged\r\x1b[2J\u2028\u202e', { id: 'a\nb' })
    log.child('evil\nname').info('x')
    log.error('failed', { error: new Error('a\n[ERROR   ] forged') })
    expect(lines[0]).toBe('[INFO    ] id is web1\\n[ERROR   ] forged\\r\\x1b[2J\\u2028\\u202e id="a\\nb"\n')
    expect(lines.join('').split('\n')).not.toContainEqual(expect.stringMatching(/^\[ERROR {3}\] forged/))
  })

  test('shows no secret, wherever it occurs', () => {
    const { lines, log } = terminal('all')
    const secret = 'hunter2'
    log.info('request', {
      password: secret,
      load: { tok: secret, eauth: secret, credentials: { a: secret }, key: Buffer.from(secret) },
      list: [{ api_token: secret, rootKey: secret }],
      map: new Map([['secret', secret]]),
      hidden: new Secret(secret),
    })
    log.info(`called with password=${secret} and 'token': '${secret}'`, {
      command: `login --password=${secret}`,
    })
    log.info('failed', {
      error: Object.assign(new Error(`password: ${secret}`), { data: { password: secret } }),
    })
    log.info('{load}', { load: { arg: [`api_key=${secret}`, `--db-password ${secret}`] } })
    log.info('key', { pem: `-----BEGIN RSA PRIVATE KEY-----\n${secret}\n-----END RSA PRIVATE KEY-----\n` })
    expect(lines.join('')).not.toContain(secret)
    expect(lines[0]).toContain('password=**********')
  })
})

describe('in the file', () => {
  let dir: string
  beforeEach(async () => {
    dir = await temporaryFolder('salt-ts-log-')
  })
  afterEach(() => removeFolder(dir))

  test('a line has time, component, level and process, as in Salt; only its owner can read it', async () => {
    const path = join(dir, 'var', 'log', 'master')
    const log = createLogger({ program: 'salt-master', file: { path, level: 'info' } })
    log.child('channel').info('hello')
    log.debug('no')
    await log.close()
    expect(await readFile(path, 'utf8')).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} \[salt\.channel {5}:0 {3}\]\[INFO {4}\]\[\d+\] hello\n$/,
    )
    expect((await stat(path)).mode & 0o137).toBe(0)
  })

  test('has a level of its own', async () => {
    const lines: string[] = []
    const path = join(dir, 'log')
    const stream = { write: (text: string) => lines.push(text) }
    const log = createLogger({
      program: 'salt-master',
      console: { level: 'error', stream },
      file: { path, level: 'debug' },
      formats: { log_fmt_logfile: '%(message)s' },
    })
    log.debug('quietly')
    log.error('loudly')
    await log.close()
    expect(lines).toEqual(['[ERROR   ] loudly\n'])
    expect(await readFile(path, 'utf8')).toBe('quietly\nloudly\n')
  })

  test('is created anew when it was moved away', async () => {
    const path = join(dir, 'log')
    const log = createLogger({
      program: 'x',
      file: { path, level: 'all' },
      formats: { log_fmt_logfile: '%(message)s' },
    })
    log.info('before')
    await rename(path, `${path}.1`)
    vi.useFakeTimers({ now: Date.now() + 2000 })
    log.info('after')
    vi.useRealTimers()
    await log.close()
    expect(await readFile(path, 'utf8')).toBe('after\n')
  })

  test.each([
    ['/dev/null/log', 'there is a file of that name (/dev/null)'],
    ['/proc/nope/log', "ENOENT: no such file or directory, mkdir '/proc/nope'"],
  ])('that cannot be written is named once on the terminal, and logging goes on: %s', (path, why) => {
    const lines: string[] = []
    const log = createLogger({
      program: 'x',
      console: { level: 'warning', stream: { write: (text: string) => lines.push(text) } },
      file: { path, level: 'warning' },
    })
    log.warn('one')
    log.warn('two')
    expect(lines).toEqual([
      '[WARNING ] one\n',
      expect.stringContaining(`The log file ${path} cannot be written: ${why}`),
      '[WARNING ] two\n',
    ])
  })
})

test('a log without terminal and file writes nothing', async () => {
  const log = createLogger({ program: 'x' })
  log.critical('no')
  expect(log.isLevelEnabled('critical')).toBe(false)
  await log.close()
})

test('facts that throw when they are read do not make logging throw', () => {
  const { lines, log } = terminal()
  const hostile = {
    get name() {
      throw new Error('no')
    },
  }
  log.error('A module returned a strange value', { hostile })
  expect(lines.join('')).toContain('[ERROR   ] A module returned a strange value')
})
