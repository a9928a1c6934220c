/** Decisions about offered keys, as they are reported. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../../../core/base/clock.ts'
import { loadMasterConfig } from '../../../../core/config/index.ts'
import { Invites, KeyStore } from '../../../../core/keys/index.ts'
import { createKeyDecider } from '../../../../core/master/worker/key-decisions.ts'
import type { WorkerEnvironment } from '../../../../core/master/worker/open-worker.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { spyLog } from '../../../harness/log.ts'
import { randomPem } from '../../keys/pems.ts'

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder()
})
afterEach(() => removeFolder(folder))

test('a damaged key is an error in the log once in a while, however often anybody offers another one', async () => {
  const { config } = loadMasterConfig({ configDir: folder, overrides: { root_dir: folder } })
  const accepted = join(config.pki_dir, 'minions')
  await mkdir(accepted, { recursive: true })
  await writeFile(join(accepted, 'web1'), 'torn')
  const log = spyLog()
  const around = { config, log, clock: systemClock, fire: () => {} } as unknown as WorkerEnvironment
  const decide = createKeyDecider(around, {
    keys: new KeyStore(config.pki_dir),
    invites: new Invites(config.pki_dir, { clock: systemClock }),
    keyAudit: { record: async () => {} } as never,
  })
  const nonce = 'a'.repeat(32)
  for (let time = 0; time < 20; time++)
    expect(await decide({ id: 'web1', pub: randomPem(), nonce } as never)).toEqual({ verdict: 'damaged' })
  expect(log.error.mock.calls).toEqual([[expect.stringContaining(join(accepted, 'web1'))]])
})
