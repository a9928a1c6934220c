/**
 * Keeps jobs and returns in memcached, under the keys of Salt's returner: `<jid>` (the load), `<jid>:<minion>` and
 * `<fun>:<minion>` (the return as JSON), and the lists `minions` and `jids`, in which a comma follows each name.
 */
import {
  fromRecordJson,
  type LoadRecord,
  type Returner,
  type ReturnRecord,
  recordJson,
  returner,
  UnsavableError,
} from 'salt-ts'
import { firstJobs, jobOf, keepSeconds, loadWithMinions, pages } from './_jobs.ts'
import { type Connection, connectionOptions, connectMemcache, type Memcache } from './_memcache-connection.ts'

export default returner({
  options: connectionOptions,
  create: async ({ options, opts }) => {
    const connection = await connectMemcache(options, keepSeconds(opts))
    return { ...writing(connection), ...reading(connection), close: connection.close }
  },
})

function writing({ ask }: Connection) {
  const saveBatch = (rets: readonly ReturnRecord[]) =>
    ask(async (memcache) => {
      await Promise.all(
        rets.flatMap((ret) => {
          const text = recordJson(ret)
          return [memcache.set(`${ret.jid}:${ret.id}`, text), memcache.set(`${ret.fun}:${ret.id}`, text)]
        }),
      )
      // The lists only get names whose records are saved.
      await Promise.all([
        addTo(
          memcache,
          'minions',
          rets.map(({ id }) => id),
        ),
        addTo(
          memcache,
          'jids',
          rets.map(({ jid }) => jid),
        ),
      ])
    })
  return {
    save: (ret) => saveBatch([ret]),
    saveBatch,
    saveLoad: (job) =>
      ask(async (memcache) => {
        await memcache.set(job.jid, recordJson(loadWithMinions(job)))
        await addTo(memcache, 'jids', [job.jid])
      }),
  } satisfies Returner
}

function reading({ ask }: Connection) {
  const list = (name: string) => ask((memcache) => listed(memcache, name))
  const getLoad = async (jid: string) => {
    const text = await ask((memcache) => memcache.get(jid))
    return text === undefined ? undefined : jobOf(jid, fromRecordJson(text) as LoadRecord['load'])
  }
  /** Return the results of all minions for a job id or a function. */
  async function returns(name: string): Promise<ReturnRecord[]> {
    const found: ReturnRecord[] = []
    for (const ids of pages(await list('minions'), 500)) {
      const texts = await ask((memcache) => Promise.all(ids.map((id) => memcache.get(`${name}:${id}`))))
      found.push(
        ...texts.filter((text) => text !== undefined).map((text) => fromRecordJson(text) as ReturnRecord),
      )
    }
    return found
  }
  async function* getJids(): AsyncGenerator<LoadRecord> {
    for (const jids of pages((await list('jids')).sort().reverse(), 100))
      for (const job of await Promise.all(jids.map(getLoad))) if (job) yield job
  }
  return {
    getLoad,
    getJid: returns,
    getFun: returns,
    getJids,
    getJidsFilter: (count, filterFindJob) => firstJobs(getJids(), count, filterFindJob),
    getMinions: () => list('minions'),
    remove: async (jid) => {
      const ids = await list('minions')
      await ask(async (memcache) => {
        await Promise.all([memcache.delete(jid), ...ids.map((id) => memcache.delete(`${jid}:${id}`))])
      })
    },
  } satisfies Partial<Returner>
}

/** Read a list. Concurrent writers may add a name twice, so duplicates are removed. */
async function listed(memcache: Memcache, name: string): Promise<string[]> {
  const text = (await memcache.get(name)) ?? ''
  return [...new Set(text.split(',').filter((member) => member !== ''))]
}

/** Add names to a list. One that becomes too large for memcached loses its older half. */
async function addTo(memcache: Memcache, name: string, members: readonly string[]): Promise<void> {
  const there = await listed(memcache, name)
  const added = [...new Set(members)].filter((member) => !there.includes(member))
  if (added.length === 0) return
  const text = (some: readonly string[]) => some.map((member) => `${member},`).join('')
  try {
    await memcache.append(name, text(added))
  } catch (error) {
    if (!(error instanceof UnsavableError)) throw error
    await memcache.set(name, text([...there.slice(there.length / 2), ...added]))
  }
}
