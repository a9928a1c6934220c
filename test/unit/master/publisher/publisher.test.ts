import { expect, test } from 'vitest'
import type { Log } from '../../../../core/author/context.ts'
import { AesKeys } from '../../../../core/channel/aes-keys.ts'
import { encodeNetwork } from '../../../../core/codec/index.ts'
import { loadMasterConfig } from '../../../../core/config/index.ts'
import { SymmetricKey } from '../../../../core/crypto/index.ts'
import { openPublisher, packJob, publishAll } from '../../../../core/master/publisher/publisher.ts'
import { getTransport } from '../../../../core/transport/index.ts'
import { makeJobLoad } from '../../../../core/wire/publication.ts'
import { keyPair } from '../../../harness/key-pairs.ts'
import { quietLog } from '../../../harness/log.ts'
import { SLOW } from '../../../harness/slow.ts'

/** More than a subscriber may have waiting. */
const MANY = 2_500
const jidOf = (n: number) => `20261121${String(n).padStart(12, '0')}`

test('a minion that is too slow is reported, and a message that is no job is skipped', SLOW, async () => {
  const { config } = loadMasterConfig({
    configDir: '/nonexistent',
    overrides: { publish_port: 0, sign_pub_messages: false },
  })
  const transport = getTransport('memory')
  const aesKeys = new AesKeys(SymmetricKey.generate(), 0, { now: () => 0 })
  const publisher = await openPublisher({ config, transport, aesKeys, masterKey: await keyPair('master') })
  const { port } = publisher.server
  const stuck = await transport.subscribe({ host: '127.0.0.1', port, identity: 'stuck', topics: [''] })
  const said: string[] = []
  const note = (line: string) => void said.push(line)
  const log: Log = { ...quietLog, warn: note, error: note }

  async function* queue() {
    yield encodeNetwork('no job')
    for (let n = 0; n < MANY; n++) {
      yield packJob(makeJobLoad({ fun: 'test.ping', arg: [], tgt: '*', jid: jidOf(n), tgt_type: 'glob' }))
    }
  }
  await publishAll(queue(), publisher, log)
  expect(said.length).toBeGreaterThan(0)
  for (const line of said) expect(line).toMatch(/^A minion does not keep up .* misses job 20261121\d{12}/)
  await stuck.close()
  await publisher.close()
})
