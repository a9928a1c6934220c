import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { Cluster, Daemon, jobsWithin } from '../harness/daemons.ts'

let cluster: Cluster
let copy: Daemon | undefined
afterEach(async () => {
  await copy?.stop()
  copy = undefined
  await cluster?.close()
})

/** A minion with the id and the key of web1, which runs. */
async function startCopy(): Promise<Daemon> {
  const web1 = cluster.minions.get('web1')!
  const directory = join(cluster.root, 'copy')
  await cp(join(web1.directory, 'pki'), join(directory, 'pki'), { recursive: true })
  copy = new Daemon('salt-minion', directory, {
    ...web1.options,
    root_dir: directory,
    source_address: '127.0.0.2',
  })
  await copy.writeConfig()
  copy.start()
  return copy
}

test('two minions with one id and key are an error in the log of the master, with where both are', async () => {
  cluster = await Cluster.open({ minions: ['web1'], minion: jobsWithin })
  const second = await startCopy()
  await second.logged('is ready to receive jobs')
  const { master } = cluster
  await master.logged('2 minions run with the id web1 and its key')
  expect(master.output).toContain(`process ${cluster.minions.get('web1')!.pid}), and one at 127.0.0.2`)
  expect(master.output).toContain('refuse_second_minion: true')
})

test('with refuse_second_minion the second one takes no jobs, says why, and takes the place of the first', async () => {
  cluster = await Cluster.open({
    minions: ['web1'],
    minion: jobsWithin,
    master: { refuse_second_minion: true },
  })
  const second = await startCopy()
  await second.logged(
    'This one gets no jobs, because refuse_second_minion is set on the master. Asking again in 1 second.',
  )
  await cluster.master.logged('the one that started second gets no jobs (refuse_second_minion)')
  const { stdout } = await cluster.salt('web1', 'config.get', 'root_dir', '--out', 'txt')
  expect(stdout).toBe(`web1: ${cluster.minions.get('web1')!.directory}\n`)

  await cluster.minions.get('web1')!.stop()
  await second.logged('is ready to receive jobs')
  const after = await cluster.salt('web1', 'config.get', 'root_dir', '--out', 'txt')
  expect(after.stdout).toBe(`web1: ${second.directory}\n`)
})
