/** The whole of a job in one process: sign-in, publication, the function, its return; no socket but those of the event buses. */
import { afterEach, expect, test } from 'vitest'
import { InProcessCluster } from '../harness/in-process-cluster.ts'

let cluster: InProcessCluster
afterEach(() => cluster?.close())

test.each(['memory', 'zeromq'] as const)(
  'over the transport %s minions sign in, take jobs and return their results',
  async (transport) => {
    cluster = await InProcessCluster.open({ transport, minions: ['web1', 'web2', 'db1'] })
    expect(await cluster.run('*', 'test.ping')).toEqual({ web1: true, web2: true, db1: true })
    expect(await cluster.run('web*', 'test.echo', ['here'])).toEqual({ web1: 'here', web2: 'here' })
    expect(await cluster.run('db1', 'cmd.run', ['echo $((6 * 7))'])).toEqual({ db1: '42' })
    expect(await cluster.run('db1', 'test.echo')).toEqual({
      db1: expect.stringContaining('Passed invalid arguments to test.echo'),
    })
  },
)

test('over memory no job is lost when the AES key is rotated: each minion signs in again and reads the publication', async () => {
  cluster = await InProcessCluster.open({ transport: 'memory', minions: ['web1', 'web2'] })
  for (let round = 0; round < 3; round++) {
    cluster.master.aesKeys.rotate()
    expect(await cluster.run('*', 'test.ping')).toEqual({ web1: true, web2: true })
  }
})

test('over memory publications by topic reach the minions they are for', async () => {
  const options = { zmq_filtering: true }
  const setup = { transport: 'memory', minions: ['web1', 'db1'], master: options, minion: options } as const
  cluster = await InProcessCluster.open(setup)
  expect(await cluster.run('web1', 'test.ping')).toEqual({ web1: true })
  expect(await cluster.run('*', 'test.ping')).toEqual({ web1: true, db1: true })
})
