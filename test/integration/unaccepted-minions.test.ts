/** A cluster that is reached over the network of this host, as that of `salt-ts dev`, accepts no minions but its own. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Disposer } from '../../core/base/disposer.ts'
import { KeyStore } from '../../core/keys/index.ts'
import { type ClusterParts, openParts } from '../../core/testing/cluster-parts.ts'
import { Minions } from '../../core/testing/minions.ts'
import { recordingLog } from '../../core/testing/recording-log.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { until } from '../harness/until.ts'

const disposer = new Disposer()
let root: string
let parts: ClusterParts
beforeAll(async () => {
  root = await temporaryFolder()
  const minionLog = recordingLog(() => {})
  parts = await openParts({ minions: ['minion'] }, disposer, { root, transport: 'zeromq', minionLog })
})
afterAll(async () => {
  await disposer.close()
  await removeFolder(root)
})

test('the key of another minion is not accepted, and its own minions have no other key', async () => {
  const { config, client, events, ports } = parts
  const intruders = disposer.own(
    new Minions({ root: join(root, 'other'), transport: 'zeromq', ports, options: () => ({}) }),
  )
  await intruders.start('eve')
  await until('the other minion asks to be accepted', () =>
    events.some(({ tag, data }) => tag === 'salt/auth' && data.id === 'eve'),
  )
  expect(await new KeyStore(config.pki_dir).list('accepted')).toEqual(['minion'])
  expect(Object.keys(await client.cmd({ tgt: '*', fun: 'test.ping' }))).toEqual(['minion'])
})
