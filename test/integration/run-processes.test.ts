/** Runners that a master starts: each in a process of its own, of which the next one waits already. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createJidSource } from '../../core/base/jid.ts'
import { loadMasterConfig, type MasterConfig } from '../../core/config/index.ts'
import { RunProcesses } from '../../core/runs/background.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { until } from '../harness/until.ts'

let root: string
let config: MasterConfig
let runs: RunProcesses

beforeEach(async () => {
  root = await temporaryFolder('salt-runs-')
  const runners = join(root, 'own', 'runners')
  await mkdir(runners, { recursive: true })
  const source = `import { setTimeout } from 'node:timers/promises'
    globalThis.calls ??= 0
    export const call = async () => {
      await setTimeout(10)
      return { pid: process.pid, calls: ++globalThis.calls }
    }\n`
  await writeFile(join(runners, 'own.js'), source)
  const overrides = { root_dir: root, cachedir: '/cache', sock_dir: '/run', runner_dirs: [runners] }
  config = loadMasterConfig({ configDir: root, overrides }).config
})
afterEach(async () => {
  runs.close()
  await until('the end of all processes', async () => (await children()).length === 0)
  await removeFolder(root)
})

const nextJid = createJidSource({ now: Date.now })
async function call(): Promise<{ pid: number; calls: number }> {
  const run = { kind: 'runner', fun: 'own.call', jid: nextJid(), args: [], kwargs: {}, user: 'root' } as const
  const { end } = await runs.start({ ...run, config })
  return (await end).return as { pid: number; calls: number }
}

const children = async (): Promise<number[]> => {
  const text = await readFile(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
  return text.split(' ').filter(Boolean).map(Number)
}

test('the next function runs in the process that waits for it, which no other function shares', async () => {
  runs = new RunProcesses(config, { ready: true })
  const [waiting] = await children()
  const first = await call()
  expect(first).toEqual({ pid: waiting, calls: 1 })
  const [next] = (await children()).filter((pid) => pid !== first.pid)
  expect(await call()).toEqual({ pid: next, calls: 1 })
})

test('functions at the same time each have a process of their own', async () => {
  runs = new RunProcesses(config, { ready: true })
  const all = await Promise.all([call(), call(), call()])
  expect(new Set(all.map(({ pid }) => pid)).size).toBe(3)
  expect(all.map(({ calls }) => calls)).toEqual([1, 1, 1])
})

test('no process waits before the first function, and one that is killed is replaced', async () => {
  runs = new RunProcesses(config, { ready: false })
  expect(await children()).toEqual([])
  const first = await call()
  const [next] = (await children()).filter((pid) => pid !== first.pid)
  process.kill(next as number, 'SIGKILL')
  await until('its end', async () => !(await children()).includes(next as number))
  expect((await call()).pid).not.toBe(next)
})
