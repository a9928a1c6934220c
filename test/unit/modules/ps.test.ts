import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import * as ps from '../../../modules/ps.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'
import { hostContext, stubPrograms } from './_host/context.ts'
import { type AnyFn, call } from './context.ts'

const ask = (which: AnyFn, given: Record<string, unknown> = {}) => call(which, given, hostContext())

describe('Processes', () => {
  test('proc_info returns facts about this process, or some of them', SLOW, async () => {
    const attrs = ['pid', 'ppid', 'status']
    expect(await ask(ps.proc_info, { pid: process.pid, attrs })).toMatchObject({
      pid: process.pid,
      ppid: process.ppid,
    })
    const facts = await ask(ps.proc_info, { pid: process.pid })
    expect(facts).not.toHaveProperty('environ')
    expect(await ask(ps.proc_info, { pid: process.pid, attrs: ['environ'] })).toMatchObject({
      environ: { PATH: expect.any(String) },
    })
    expect(facts).toMatchObject({ cpu_times: { length: 5 }, memory_info: { length: 7 } })
    await expect(ask(ps.proc_info, { pid: 1, attrs: ['none'] })).rejects.toThrow("invalid attr name 'none'")
    await expect(ask(ps.proc_info, { pid: 4_194_304 })).rejects.toThrow('process PID not found (pid=4194304)')
  })

  test('proc_info reports that the process ended while it was read', async () => {
    const folder = await temporaryFolder()
    onTestFinished(async () => {
      vi.unstubAllEnvs()
      await removeFolder(folder)
    })
    await stubPrograms(folder, {
      ionice: 'kill -9 $2; while [ -e /proc/$2 ]; do sleep 0.05; done; echo idle',
    })
    const { pid } = spawn('sleep', ['60'])
    await expect(ask(ps.proc_info, { pid, attrs: ['pid', 'ionice'] })).rejects.toThrow(
      `process PID not found (pid=${pid})`,
    )
  })

  test('proc_info shows open files of a process, and its resource usage', SLOW, async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const file = await open(import.meta.filename)
    const attrs = ['connections', 'open_files', 'threads', 'memory_maps', 'memory_full_info', 'io_counters']
    const more = ['cpu_affinity', 'cpu_num', 'num_ctx_switches', 'terminal', 'ionice']
    const facts = await ask(ps.proc_info, { pid: process.pid, attrs: [...attrs, ...more] })
    expect(facts).toMatchObject({
      connections: expect.arrayContaining([[expect.any(Number), 2, 1, ['127.0.0.1', port], [], 'LISTEN']]),
      open_files: expect.arrayContaining([[import.meta.filename, file.fd, 0, 'r', expect.any(Number)]]),
      threads: expect.arrayContaining([[process.pid, expect.anything(), expect.anything()]]),
      memory_maps: expect.arrayContaining([expect.objectContaining({ length: 11, 0: '[heap]' })]),
      memory_full_info: { length: 10 },
      io_counters: { length: 6 },
      cpu_affinity: expect.arrayContaining([expect.any(Number)]),
      cpu_num: expect.any(Number),
      num_ctx_switches: [expect.any(Number), expect.any(Number)],
      ionice: [0, 0],
    })
    await file.close()
    server.close()
  })

  test('pgrep finds a process, and pkill ends it', SLOW, async () => {
    const child = spawn('sleep', ['987654'])
    await once(child, 'spawn')
    const pattern = 'sleep 987654'
    expect(await ask(ps.pgrep, { pattern, full: true })).toEqual([child.pid])
    expect(await ask(ps.pgrep, { pattern: '^sleep 98765\\d', full: true, pattern_is_regex: true })).toEqual([
      child.pid,
    ])
    expect(await ask(ps.pgrep, { pattern, full: true, user: 'none' })).toBeNull()
    const ended = once(child, 'exit')
    expect(await ask(ps.pkill, { pattern, full: true })).toEqual({ killed: [child.pid] })
    expect((await ended)[1]).toBe('SIGTERM')
    expect(await ask(ps.kill_pid, { pid: child.pid })).toBe(false)
    expect(await ask(ps.pkill, { pattern, full: true })).toBeNull()
  })

  test('top, status and get_pid_list list processes', async () => {
    expect(await ask(ps.get_pid_list)).toContain(process.pid)
    expect(await ask(ps.top, { num_processes: 1, interval: 0 })).toEqual([
      expect.objectContaining({
        pid: expect.any(Number),
        mem: expect.objectContaining({ rss: expect.any(Number) }),
      }),
    ])
    expect(await ask(ps.status, { status: 'no such' })).toEqual([])
    await expect(ask(ps.status, { status: '' })).rejects.toThrow('Filter is required for ps.status')
  })

  test('psaux counts lines', async () => {
    const [name, lines, count] = (await ask(ps.psaux, { name: 'ps a[u]x' })) as [string, string[], string]
    expect([name, count]).toEqual(['ps a[u]x', `${lines.length} occurrence(s).`])
  })
})

describe('The host', () => {
  test('memory, processors and disks are counted', async () => {
    expect(await ask(ps.virtual_memory)).toMatchObject({ total: await ask(ps.total_physical_memory) })
    expect(await ask(ps.cpu_times)).toHaveProperty('guest_nice')
    expect(await ask(ps.cpu_times, { per_cpu: true })).toHaveLength(Number(await ask(ps.num_cpus)))
    expect(await ask(ps.cpu_percent, { interval: 0 })).toBeDefined()
    expect(await ask(ps.swap_memory)).toHaveProperty('sout')
    expect(await ask(ps.disk_usage, { path: '/' })).toHaveProperty('percent')
    expect(await ask(ps.disk_partitions, { all: true })).toContainEqual(
      expect.objectContaining({ fstype: 'proc' }),
    )
    expect(await ask(ps.network_io_counters, { interface: 'lo' })).toHaveProperty('bytes_recv')
    expect(await ask(ps.network_io_counters, { interface: 'none' })).toBe(false)
    expect(await ask(ps.disk_io_counters, { device: 'none' })).toBe(false)
    expect(await ask(ps.boot_time, { time_format: '%Y' })).toMatch(/^\d{4}$/)
  })
})
