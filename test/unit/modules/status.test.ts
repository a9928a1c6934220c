import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { type Context, fn, p } from 'salt-ts'
import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  countProcessors,
  readCpuInfo,
  readCpuStats,
  readDiskStats,
  readMemInfo,
  readNetDev,
  readNetStats,
} from '../../../modules/_host/kernel-tables.ts'
import { readEstablished } from '../../../modules/_host/sockets.ts'
import * as status from '../../../modules/status.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { hostContext, stubPrograms } from './_host/context.ts'
import { type AnyFn, call } from './context.ts'

const ask = (which: AnyFn, given: Record<string, unknown> = {}, others: Record<string, AnyFn> = {}) =>
  call(which, given, hostContext(others))

describe('Tables of the kernel (recorded)', () => {
  test('cpustats has the times of all processors, and the first value of other lines', () => {
    const text = 'cpu  10 2 30 400 5 6 7 8 0 0\ncpu0 5 1 15 200\nintr 99 1 2\nctxt 77\nsoftirq 9 3 4\n'
    expect(readCpuStats(text)).toEqual({
      cpu: { user: 10, nice: 2, system: 30, idle: 400, iowait: 5, irq: 6, softirq: 7, steal: 8 },
      cpu0: 5,
      intr: { total: 99, irqs: [1, 2] },
      ctxt: 77,
      softirq: { total: 9, softirqs: [3, 4] },
    })
  })

  test('meminfo keeps values as text', () => {
    expect(readMemInfo('MemTotal:  24 kB\nHugePages_Total:  0\n')).toEqual({
      MemTotal: { value: '24', unit: 'kB' },
      HugePages_Total: { value: '0' },
    })
  })

  test('cpuinfo lists flags, and keeps a colon in a value', () => {
    expect(readCpuInfo('processor\t: 0\nmodel name\t: A: B\nflags\t\t: fpu vme\n\nprocessor\t: 1\n')).toEqual(
      {
        processor: '1',
        'model name': 'A: B',
        flags: ['fpu', 'vme'],
      },
    )
  })

  test('diskstats is by device', () => {
    const text = ' 254 0 vda 1 2 3 4 5 6 7 8 9 10 11 0 0 0 0 0 0\n'
    expect(readDiskStats(text)).toEqual({
      vda: {
        major: 254,
        minor: 0,
        device: 'vda',
        reads_issued: 1,
        reads_merged: 2,
        sectors_read: 3,
        ms_spent_reading: 4,
        writes_completed: 5,
        writes_merged: 6,
        sectors_written: 7,
        ms_spent_writing: 8,
        io_in_progress: 9,
        ms_spent_in_io: 10,
        weighted_ms_spent_in_io: 11,
      },
    })
  })

  test('netstats pairs names with values, and a negative value is a float as in Salt', () => {
    expect(readNetStats('TcpExt: A B\nTcpExt: 1 -1\nIpExt: C\nIpExt: 18446744073709551615\n')).toEqual({
      TcpExt: { A: 1, B: new Number(-1) },
      IpExt: { C: 18446744073709551615n },
    })
  })

  test('netdev reads interfaces whose counter follows the colon at once', () => {
    const line = 'eth0:1:99 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15'
    expect(readNetDev(`head | er\n ${line}\n`)['eth0:1']).toMatchObject({
      iface: 'eth0:1',
      rx_bytes: 99,
      rx_packets: 1,
      rx_multicast: 7,
      tx_bytes: 8,
      tx_compressed: 15,
    })
  })

  test('established connections have readable addresses', () => {
    const table =
      'sl local remote st\n 0: 0100007F:1199 0200000A:C35A 01 0\n 1: 0100007F:0016 00000000:0000 0A 0\n' +
      ' 2: 00000000000000000000000001000000:0016 0000000000000000FFFF00000100007F:0017 01 0\n'
    expect(readEstablished(table)).toEqual([
      { local_addr: '127.0.0.1', local_port: 4505, remote_addr: '10.0.0.2', remote_port: 50010 },
      { local_addr: '::1', local_port: 22, remote_addr: '127.0.0.1', remote_port: 23 },
    ])
  })

  test('a list of processors is counted', () => {
    expect(['0', '0-3', '0-3,8', '1,3,5-6'].map(countProcessors)).toEqual([1, 4, 5, 4])
  })
})

describe('This host', () => {
  test('all_status has all parts', async () => {
    const found = (await ask(status.all_status)) as Record<string, object>
    expect(Object.keys(found).sort()).toEqual([
      ...[
        'cpuinfo',
        'cpustats',
        'diskstats',
        'diskusage',
        'loadavg',
        'meminfo',
        'netdev',
        'netstats',
        'uptime',
      ],
      ...['vmstats', 'w'],
    ])
    expect(found.diskusage).toHaveProperty('/')
    expect(found.vmstats).toHaveProperty('nr_free_pages')
    expect(found.netdev).toHaveProperty('lo')
  })

  test('uptime returns the start time in several formats', async () => {
    const found = (await ask(status.uptime)) as Record<string, number | string>
    expect(found).toMatchObject({ seconds: expect.any(Number), users: expect.any(Number) })
    expect(found.since_iso).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?$/)
    expect(found.time).toMatch(/^\d+:\d+$/)
  })

  test('diskusage accepts paths and types, and skips a path that does not exist', async () => {
    expect(Object.keys((await ask(status.diskusage, { args: ['/', '/none'] })) as object)).toEqual(['/'])
    expect(Object.keys((await ask(status.diskusage, { args: ['pro?'] })) as object)).toContain('/proc')
    expect(await ask(status.diskusage, { args: ['nosuchtype'] })).toEqual({})
  })

  test('nproc, version and time return values', async () => {
    expect(await ask(status.nproc)).toBeGreaterThan(0)
    expect(await ask(status.version)).toBe((await readFile('/proc/version', 'utf8')).trim())
    expect(await ask(status.time, { format: '%Y' })).toBe(String(new Date().getFullYear()))
  })

  test('master is true while a connection is open', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const others = { 'config.get': fn({ key: p.string(), default: p.any() }, () => port) }
    expect(await ask(status.master, { master: '127.0.0.1' }, others)).toBe(false)
    const accepted = once(server, 'connection')
    const client = connect(port, '127.0.0.1')
    await accepted
    expect(await ask(status.master, { master: '127.0.0.1' }, others)).toBe(true)
    client.destroy()
    server.close()
    expect(await ask(status.master, { master: 'nosuchhost.invalid' }, others)).toBeNull()
    expect(await ask(status.master, {}, others)).toBeNull()
  })
})

describe('Programs', () => {
  afterEach(() => vi.unstubAllEnvs())

  test('procs and pid read ps', async () => {
    const found = (await ask(status.procs)) as Record<string, { user: string; cmd: string }>
    expect(found[process.pid]?.cmd).toContain('node')
    expect(String(await ask(status.pid, { sig: 'node' })).split('\n')).not.toContain(String(process.pid))
    expect(await ask(status.pid, { sig: 'no such [p]rocess' })).toBe('')
    await expect(ask(status.pid, { sig: '(' })).rejects.toThrow("'(' is not a regular expression")
  })

  test('w and uptime read sessions (recorded)', async () => {
    const folder = await temporaryFolder('salt-ts-status-')
    await stubPrograms(folder, {
      w: `printf 'root pts/0 15:01 2:30 0.05s 0.02s ssh  10.0.0.1\\n\\n'`,
      who: `printf 'root pts/0 2026-11-26\\nfred pts/1 2026-11-26\\n'`,
    })
    expect(await ask(status.w)).toEqual([
      {
        user: 'root',
        tty: 'pts/0',
        login: '15:01',
        idle: '2:30',
        jcpu: '0.05s',
        pcpu: '0.02s',
        what: 'ssh 10.0.0.1',
      },
    ])
    expect(await ask(status.uptime)).toMatchObject({ users: 2 })
    await removeFolder(folder)
  })

  test('custom selects configured values', async () => {
    const settings = { 'status.loadavg.custom': ['1-min', 'none'], 'status.none.custom': ['x'] }
    const others = {
      'config.dot_vals': fn({ value: p.string() }, () => settings),
      'status.loadavg': fn(() => ({ '1-min': 0.5 })),
    }
    const loader = { has: async (name: string) => name in others } as Context['loader']
    expect(await call(status.custom, {}, hostContext(others, { loader }))).toEqual({
      '1-min': 0.5,
      none: 'UNKNOWN',
    })
  })

  test('the module is refused where there is no /proc', () => {
    expect(status.virtual({ grains: { kernel: 'Darwin' } } as never)).toContain('only Linux')
  })
})
