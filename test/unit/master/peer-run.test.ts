import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { deferred } from '../../../core/base/deferred.ts'
import type { Sender } from '../../../core/channel/request-server.ts'
import { peerRunHandler } from '../../../core/master/handlers/peer-run.ts'
import type { WorkerContext } from '../../../core/master/worker/context.ts'
import type { StartedRun } from '../../../core/runs/background.ts'
import { fakeLog } from '../../../core/testing/recording-log.ts'

const sender = (): Sender => ({
  id: 'web1',
  verified: true,
  version: 3,
  fingerprint: randomBytes(32),
  algorithms: { encryption: 'OAEP-SHA224', signing: 'PKCS1v15-SHA224' },
})

test('a runner of a minion counts until its process has ended, and only one that runs is audited as allowed', async () => {
  const audited: unknown[] = []
  const gone = deferred()
  const started: StartedRun = {
    end: Promise.resolve({ return: 'done', success: true }),
    gone: gone.promise,
    leave: () => {},
  }
  const handler = peerRunHandler({
    log: fakeLog().log,
    replays: { firstTime: async () => true },
    audit: { record: async ({ verdict }: { verdict: string }) => void audited.push(verdict) },
    auth: {
      access: { authorize: () => ({ allowed: true, rule: 'peer_run.web1[0]' }), seesAllJobs: () => false },
    },
    shownCall: async () => [],
    nextJid: () => '20261122101112131415',
    startRun: async () => started,
  } as unknown as WorkerContext)
  const ask = () => handler({ cmd: 'minion_runner', fun: 'test.arg', arg: [], explain: true }, sender())
  for (let running = 0; running < 16; running++) expect(await ask()).toBe('done')
  expect(await ask()).toMatchObject({
    refused: { reason: expect.stringContaining('16 runners are already running') },
  })
  expect(audited).toEqual([...Array(16).fill('allowed'), 'refused'])
  gone.resolve()
  await gone.promise
  expect(await ask()).toBe('done')
})
