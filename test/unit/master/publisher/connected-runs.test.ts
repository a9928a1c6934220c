import { afterEach, beforeEach, expect, test } from 'vitest'
import { MinionStarts } from '../../../../core/cache/minion-starts.ts'
import { minionTopic, runTopic } from '../../../../core/channel/publish-channel.ts'
import { RunTopics } from '../../../../core/master/publisher/connected-runs.ts'
import { newStartToken } from '../../../../core/wire/minion-start.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

let folder: string
let starts: MinionStarts
beforeEach(async () => {
  folder = await temporaryFolder('salt-runs-')
  starts = MinionStarts.open(folder)
})
afterEach(async () => {
  await starts.close()
  await removeFolder(folder)
})

const report = async (id: string, token = newStartToken()) => {
  await starts.save(id, { token, address: '10.0.0.5', host: 'vm', pid: 1 }, 1)
  return token
}
const read = (...topics: string[]) => new RunTopics((token) => starts.idOf(token)).read(new Set(topics))

test('a connected run is assigned to the minion that reported it', async () => {
  const [first, second, other] = [await report('web1'), await report('web1'), await report('web2')]
  const { topics, runs } = read('broadcast', ...[first, second, other].map(runTopic))
  expect(topics).toEqual(new Set(['broadcast', minionTopic('web1'), minionTopic('web2')]))
  expect(Object.fromEntries(runs)).toEqual({ web1: [first, second], web2: [other] })
})

test('a run topic that was not reported is ignored, and no minion can claim the run of another', async () => {
  const token = await report('web1')
  await report('web2', token)
  expect(read(runTopic(newStartToken())).topics).toEqual(new Set())
  expect([...read(runTopic(token)).runs.keys()]).toEqual(['web1'])
})

test('runs of minions without a key, and all but the latest, are removed', async () => {
  const oldest = await report('web1')
  const latest = [await report('web1'), await report('web1'), await report('web1'), await report('web1')]
  const gone = await report('web2')
  await starts.keep((id) => id === 'web1')
  expect([oldest, ...latest, gone].map((token) => starts.idOf(token))).toEqual([
    undefined,
    ...latest.map(() => 'web1'),
    undefined,
  ])
})

test('a run that is reported after it has connected is found at the next read', async () => {
  const found = new RunTopics((token) => starts.idOf(token))
  const token = newStartToken()
  expect(found.read(new Set([runTopic(token)])).runs.size).toBe(0)
  await report('web1', token)
  expect([...found.read(new Set([runTopic(token)])).runs.keys()]).toEqual(['web1'])
})
