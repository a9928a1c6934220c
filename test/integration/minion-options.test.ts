/** Options of the minion that decide what becomes of a return. */
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { packClear } from '../../core/wire/envelope.ts'
import { InProcessCluster } from '../harness/in-process-cluster.ts'
import { until } from '../harness/until.ts'

let cluster: InProcessCluster
afterEach(() => cluster?.close())

test('with pub_ret off no return is sent to the master; with cache_jobs it stays on the minion', async () => {
  const minion = { pub_ret: false, cache_jobs: true }
  cluster = await InProcessCluster.open({ transport: 'memory', minions: ['web1'], minion })
  const { master } = cluster
  const jid = '20261121120000000001'
  const load = { cmd: 'publish', tgt: '*', fun: 'test.echo', arg: ['kept'], user: 'root', jid }
  await master.answer(packClear({ ...load, key: await master.rootKey() }))
  const kept = join(master.root, 'web1', 'cache', 'minion_jobs', jid, 'return.p')
  await until('the return on the minion', () =>
    access(kept).then(
      () => true,
      () => false,
    ),
  )
  await until('the end of the job', () =>
    cluster.logged('web1').some((line) => line.includes(`for job: ${jid}`)),
  )
  expect(master.context.jobs.return(jid, 'web1')).toBeUndefined()
  expect(master.events.filter(({ tag }) => tag.includes('/ret/'))).toEqual([])
})

test('with require_minion_sign_messages and minion_sign_messages returns of all types arrive', async () => {
  cluster = await InProcessCluster.open({
    transport: 'memory',
    minions: ['web1'],
    master: { require_minion_sign_messages: true, drop_messages_signature_fail: true },
    minion: { minion_sign_messages: true },
  })
  expect(await cluster.run('*', 'test.ping')).toEqual({ web1: true })
  expect(await cluster.run('*', 'cmd.run', ['printf "\\377"; echo; echo ü'])).toEqual({
    web1: expect.stringContaining('ü'),
  })
  expect(await cluster.run('*', 'nosuch.function')).toEqual({ web1: "'nosuch.function' is not available." })
})
