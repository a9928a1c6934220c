/** The supervisor of a master restarts its children until they are no longer needed; salt-api is the example. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Logins } from '../../core/auth/login/limit.ts'
import { loadMasterConfig, type MasterConfig } from '../../core/config/index.ts'
import { type ChildSpec, Supervisor } from '../../core/master/supervision/supervisor.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { spyLog } from '../harness/log.ts'
import { until } from '../harness/until.ts'

let folder: string
let config: MasterConfig
let supervisor: Supervisor
let log: ReturnType<typeof spyLog>

beforeEach(async () => {
  folder = await temporaryFolder()
  await writeFile(
    join(folder, 'master'),
    `root_dir: ${folder}\napi: {ssl_crt: ${join(folder, 'none.pem')}}\n`,
  )
  config = loadMasterConfig({ configDir: folder }).config
  log = spyLog()
  supervisor = new Supervisor(log, {} as Logins)
})
afterEach(async () => {
  await supervisor.stop('', 1_000)
  await removeFolder(folder)
})

/** A child whose start fails, since its certificate is missing. */
const failing = (): ChildSpec => ({
  name: 'salt-api',
  entry: 'api/api-process',
  start: () => ({ type: 'serve', config }),
})
const starts = () => supervisor.restarts.get('salt-api') ?? 0
const noStartsFor = async (ms: number) => {
  const before = starts()
  await new Promise((resolve) => setTimeout(resolve, ms))
  expect(starts()).toBe(before)
}

test('a child whose start fails is restarted until it is ended, and can be started once more', async () => {
  supervisor.keep(failing())
  await until('the second start', () => starts() >= 2)
  expect(log.error.mock.calls.flat().join('\n')).toContain('none.pem for TLS cannot be read')
  await supervisor.end('salt-api', 1_000)
  expect(supervisor.pidOf('salt-api')).toBeUndefined()
  await noStartsFor(1_500) // the next start would have been due within 400 ms
  supervisor.keep(failing())
  const before = starts()
  await until('the next start', () => starts() > before)
})

test('keeping the same child twice changes nothing', async () => {
  supervisor.keep(failing())
  supervisor.keep(failing())
  await until('the third start', () => starts() >= 3)
  expect(log.error).toHaveBeenCalledTimes(starts())
  await supervisor.end('salt-api', 1_000)
  await noStartsFor(1_500)
})
