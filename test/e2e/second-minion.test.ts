import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import { Cluster, Daemon, jobsWithin } from '../harness/daemons.ts'

type Options = Parameters<typeof Cluster.open>[0]

/** A master, its minion web1, and another minion with the id and the key of that. */
async function openWithCopy({ onTestFinished }: TestContext, options: Options = {}) {
  const cluster = await Cluster.open({ minions: ['web1'], minion: jobsWithin, ...options })
  onTestFinished(() => cluster.close())
  const web1 = cluster.minions.get('web1')!
  const directory = join(cluster.root, 'copy')
  await cp(join(web1.directory, 'pki'), join(directory, 'pki'), { recursive: true })
  const copy = new Daemon('salt-minion', directory, {
    ...web1.options,
    root_dir: directory,
    source_address: '127.0.0.2',
  })
  await copy.writeConfig()
  copy.start()
  onTestFinished(() => copy.stop())
  return { cluster, web1, copy }
}

test.concurrent('two minions with one id and key are an error in the log of the master, with the addresses of both', async (context) => {
  const { cluster, web1, copy } = await openWithCopy(context)
  await copy.logged('is ready to receive jobs')
  const { master } = cluster
  await master.logged('2 minions run with the id web1 and its key')
  expect(master.output).toContain(`process ${web1.pid}), and one at 127.0.0.2`)
  expect(master.output).toContain('refuse_second_minion: true')
})

test.concurrent('with refuse_second_minion the second one takes no jobs, says why, and replaces the first one when that is gone', async (context) => {
  const { cluster, web1, copy } = await openWithCopy(context, { master: { refuse_second_minion: true } })
  await copy.logged(
    'This one gets no jobs, because refuse_second_minion is set on the master. Asking again in 1 second.',
  )
  await cluster.master.logged('the one that started second gets no jobs (refuse_second_minion)')
  const { stdout } = await cluster.salt('web1', 'config.get', 'root_dir', '--out', 'txt')
  expect(stdout).toBe(`web1: ${web1.directory}\n`)

  await web1.stop()
  await copy.logged('is ready to receive jobs')
  const after = await cluster.salt('web1', 'config.get', 'root_dir', '--out', 'txt')
  expect(after.stdout).toBe(`web1: ${copy.directory}\n`)
})
