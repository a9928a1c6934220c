import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { journalArguments } from '../../../modules/_journal/arguments.ts'
import { readRecord } from '../../../modules/_journal/record.ts'
import * as journal from '../../../modules/journal.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs, program } from '../../harness/needs.ts'
import { SLOW } from '../../harness/slow.ts'
import { call, fakeContext } from './context.ts'
import { linesOf, stubProgram } from './stub.ts'

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-journal-')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})
const query = (given: Record<string, unknown> = {}, context = fakeContext()) =>
  call(journal.query, given, context) as Promise<Record<string, unknown>[]>
const stub = (script: string) => stubProgram(join(folder, 'bin'), 'journalctl', script)
/** Let journalctl print these lines. */
const print = async (...lines: string[]) => {
  await writeFile(join(folder, 'lines'), lines.map((line) => `${line}\n`).join(''))
  await stub(`printf '%s\\n' "$@" >> ${folder}/args; cat ${folder}/lines`)
}

const SYSLOG = `{"_HOSTNAME":"vm","__MONOTONIC_TIMESTAMP":"5252503523","PRIORITY":"3","_PID":"18796","SYSLOG_IDENTIFIER":"web","__REALTIME_TIMESTAMP":"1795710889202207","MESSAGE":"hello ä","_BOOT_ID":"f8ce1d45740a49b594ad11740337b30c","_TRANSPORT":"syslog"}`
const NATIVE = `{"MESSAGE":"two\\nlines","_PID":"18798","PRIORITY":"6","SYSLOG_IDENTIFIER":"app","X":["1","2"],"_HOSTNAME":"vm","_SYSTEMD_UNIT":"app.service","__REALTIME_TIMESTAMP":"1795710891168646"}`
const BYTES = `{"MESSAGE":[98,97,100,32,255,32,98],"PRIORITY":"4","__REALTIME_TIMESTAMP":"1795710891181562"}`

describe('journal.query (recorded output of journalctl)', () => {
  test('returns the newest entries, the oldest of them first', async () => {
    await print(NATIVE, SYSLOG)
    expect(await query({ unit: 'app' })).toEqual([
      {
        __REALTIME_TIMESTAMP: '2026-11-26T16:34:49.202207Z',
        _HOSTNAME: 'vm',
        SYSLOG_IDENTIFIER: 'web',
        _PID: 18796,
        PRIORITY: 3,
        MESSAGE: 'hello ä',
      },
      {
        __REALTIME_TIMESTAMP: '2026-11-26T16:34:51.168646Z',
        _HOSTNAME: 'vm',
        _SYSTEMD_UNIT: 'app.service',
        SYSLOG_IDENTIFIER: 'app',
        _PID: 18798,
        PRIORITY: 6,
        MESSAGE: 'two\nlines',
      },
    ])
    expect(await linesOf(join(folder, 'args'))).toEqual(
      expect.arrayContaining(['--output=json', '--reverse', '--lines=100', '--unit=app']),
    )
  })

  test('returns the given fields, or all', async () => {
    await print(NATIVE)
    expect(await query({ fields: ['X', 'NONE'] })).toEqual([{ X: ['1', '2'] }])
    expect(await query({ fields: 'PRIORITY, X' })).toEqual([{ PRIORITY: 6, X: ['1', '2'] }])
    expect(await query({ fields: '*' })).toEqual([
      expect.objectContaining({ _HOSTNAME: 'vm', X: ['1', '2'] }),
    ])
  })

  test('ends journalctl when it has printed enough entries', async () => {
    await stub(`while :; do echo '${BYTES}'; done`)
    expect(await query({ lines: 3 })).toHaveLength(3)
  })

  test('leaves out entries that are too large, and stops after 16 megabytes', SLOW, async () => {
    const context = fakeContext()
    await stub(`echo '${SYSLOG}'; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo '${SYSLOG}'`)
    expect(await query({}, context)).toHaveLength(2)
    expect(context.lines.map(({ message }) => message)).toEqual([
      'An entry of the journal that is larger than a megabyte was left out',
    ])
    const large = `{"MESSAGE":"${'y'.repeat(1_000_000)}"}`
    await print(...Array.from({ length: 20 }, () => large))
    expect(await query({}, context)).toHaveLength(16)
    expect(context.lines.at(-1)?.message).toMatch(/^Only the last 16 entries were read/)
  })

  test('reports errors of journalctl, but finding nothing is no error', async () => {
    await stub('echo "Failed to parse timestamp: garbage" >&2; exit 1')
    await expect(query({ since: 'garbage' })).rejects.toThrow(
      /^journalctl failed: Failed to parse timestamp: garbage$/,
    )
    await stub('exit 1')
    expect(await query({ grep: 'x' })).toEqual([])
  })

  test('is ended with its job', async () => {
    await stub(`echo '${BYTES}'; exec sleep 1000`)
    const stop = new AbortController()
    const running = query({}, fakeContext({ signal: stop.signal }))
    stop.abort()
    await expect(running).rejects.toThrow(/abort/i)
    await expect(query({}, fakeContext({ signal: stop.signal }))).rejects.toThrow(/abort/i)
  })
})

describe('journal.query with the real journalctl', needs(program('journalctl')), () => {
  test('finds nothing in an empty folder', async () => {
    await mkdir(join(folder, 'journal'))
    const given = { unit: 'ssh', identifier: ['a', 'b'], since: '2 hours ago', until: 'now', lines: 5 }
    expect(await query({ ...given, priority: 'err..alert', directory: join(folder, 'journal') })).toEqual([])
  })

  test.each([
    [{ since: 'garbage' }, 'Failed to parse timestamp: garbage'],
    [{ priority: 'loud' }, 'Unknown log level loud'],
    [{ directory: '/no/such/folder' }, 'Failed to open /no/such/folder'],
  ])('refuses %j with the words of journalctl', async (given, message) => {
    await expect(query(given)).rejects.toThrow(message)
  })
})

describe('Arguments of journalctl', () => {
  const args = (given: object) => journalArguments({ lines: 1, ...given }, undefined).slice(6)

  test.each([
    [{ unit: ['a', '-b'] }, ['--unit=a', '--unit=-b']],
    [{ boot: true }, ['--boot']],
    [{ boot: false }, []],
    [{ boot: -1 }, ['--boot=-1']],
    [{ boot: 'f8ce' }, ['--boot=f8ce']],
    [{ since: '1795710889', until: '1795710889.5' }, ['--since=@1795710889', '--until=@1795710889.5']],
    [{ since: '2 hours ago' }, ['--since=2 hours ago']],
    [{ grep: '--file=/etc/shadow' }, ['--grep=--file=/etc/shadow']],
  ])('of %j are %j', (given, expected) => {
    expect(args(given)).toEqual(expected)
  })

  test.each([{ unit: '' }, { grep: 'a\0b' }])('%j is refused', (given) => {
    expect(() => args(given)).toThrow('must not be empty, nor contain a null byte')
  })
})

test('values of an entry can be bytes, lists, and invalid times', () => {
  expect(readRecord(BYTES, ['MESSAGE'])).toEqual({ MESSAGE: 'bad \ufffd b' })
  const odd = `{"A":null,"B":[[97,98],"c"],"PRIORITY":["3","x"],"__REALTIME_TIMESTAMP":"soon","__proto__":"x"}`
  expect(readRecord(odd, ['A', 'B', 'PRIORITY', '__REALTIME_TIMESTAMP', 'toString'])).toEqual({
    A: null,
    B: ['ab', 'c'],
    PRIORITY: [3, 'x'],
    __REALTIME_TIMESTAMP: 'soon',
  })
})

test('the module is available where journalctl is installed', async () => {
  await stub('')
  expect(await journal.virtual({} as never)).toBe(true)
})
