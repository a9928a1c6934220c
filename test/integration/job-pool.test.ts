import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Log, MinionServices } from '../../core/author/context.ts'
import { loadMinionConfig } from '../../core/config/index.ts'
import { JobPool } from '../../core/minion/job-pool.ts'
import type { ReturnLoad } from '../../core/wire/return.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'salt-ts-pool-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('a job that is killed gives a return, and the log has no word of an error', async () => {
  const overrides = { id: 'web1', root_dir: folder }
  const { config } = loadMinionConfig({ configDir: folder, overrides })
  const log = Object.fromEntries(['trace', 'debug', 'info', 'warn', 'error'].map((level) => [level, vi.fn()]))
  const facts = () => ({ grains: {}, pillar: {} })
  const pool = new JobPool({ id: 'web1', config, facts, log: log as unknown as Log, warm: 1 })
  const job = {
    fun: 'test.sleep',
    arg: [30],
    tgt: 'web1',
    jid: '20261121034212345678',
    ret: '',
    tgt_type: 'glob',
  }
  const returns: ReturnLoad[] = []
  await pool.run(job, {
    services: {} as MinionServices,
    master: '127.0.0.1:4506',
    started: async (pid) => {
      process.kill(pid, 'SIGKILL')
    },
    shown: async () => {},
    finished: async (ret) => {
      returns.push(ret)
    },
  })
  pool.close()
  expect(returns).toMatchObject([
    { jid: job.jid, success: false, return: expect.stringContaining('SIGKILL') },
  ])
  expect(log.error).not.toHaveBeenCalled()
})
