/** The master writes jobs, returns and events to stores outside, which may be down for a long time. */
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalClient, RunnerClient } from '../../core/client/index.ts'
import { Cluster, Daemon } from '../harness/daemons.ts'
import { folderStore } from '../harness/folder-store.ts'
import { quietLog } from '../harness/log.ts'
import { freePort } from '../harness/ports.ts'
import { until } from '../harness/until.ts'

let root: string
let store: string
let drop: () => Promise<void>
let cluster: Cluster
let client: LocalClient
let runners: RunnerClient

beforeAll(async () => {
  const made = await folderStore()
  ;({ root, store, drop } = made)
  cluster = await Cluster.open({
    minions: ['web1', 'web2'],
    master: {
      ...made.options,
      'rawfile_json.filename': join(root, 'events'),
      master_job_cache: 'folder,stubborn',
      'stubborn.path': join(root, 'stubborn'),
      returner_timeout: 5,
      event_return: ['rawfile_json'],
      event_return_whitelist: ['salt/job/*'],
      event_return_blacklist: ['salt/job/*/new'],
      missing_returns_after: 1,
      job_cache_store_endtime: true,
      loop_interval: 1,
    },
  })
  client = await cluster.client()
  runners = new RunnerClient({ config: cluster.config, log: quietLog, user: 'root' })
})
afterAll(async () => {
  await runners?.close()
  await client?.close()
  await cluster?.close()
  await drop?.()
})

const events = async (): Promise<Record<string, unknown>[]> => {
  const text = await readFile(join(root, 'events'), 'utf8').catch(() => '')
  return text.trim() === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
}

/** What a runner function returns, which runs in this process. */
async function runner(fun: string, args: readonly unknown[] = [], kwargs: Options = {}): Promise<unknown> {
  const { return: value, success } = await runners.run(fun, args, kwargs)
  expect(success, JSON.stringify(value)).toBe(true)
  return value
}

type Options = Readonly<Record<string, unknown>>
const FROM_FOLDER = { ext_source: 'folder' }

/** Run a job on both minions, and return its id. */
async function echo(text: string): Promise<string> {
  const run = await client.cmdIter({ tgt: '*', fun: 'test.echo', arg: [text] })
  const returned: unknown[] = []
  for await (const result of run) returned.push([result.id, result.state === 'returned' && result.return])
  expect(Object.fromEntries(returned as [string, unknown][])).toEqual({ web1: text, web2: text })
  return run.jid
}

test('a job and its returns arrive in the store of master_job_cache, and their events in that of event_return', async () => {
  const jid = await echo('hello')
  await until('both returns', () =>
    ['web1', 'web2'].every((id) => existsSync(join(store, `ret ${jid} ${id}`))),
  )
  expect(await runner('jobs.lookup_jid', [jid], FROM_FOLDER)).toEqual({ web1: 'hello', web2: 'hello' })
  expect(Object.keys((await runner('jobs.list_jobs', [], FROM_FOLDER)) as object)).toContain(jid)
  const ended = { EndTime: expect.stringMatching(/^\d{4}, \w{3} \d\d \d\d:\d\d:\d\d\.\d{6}$/) }
  expect(await runner('jobs.list_job', [jid])).toMatchObject(ended)
  expect(await runner('jobs.list_jobs')).toMatchObject({ [jid]: ended })
  expect(existsSync(join(store, `end ${jid}`))).toBe(true)
  const tags = await until('the events', async () => {
    const found = (await events()).map(({ tag }) => String(tag))
    return found.includes(`salt/job/${jid}/ret/web2`) && found
  })
  expect(tags.every((tag) => tag.startsWith('salt/job/') && !tag.endsWith('/new'))).toBe(true)
})

test('a store that is down delays no job, is reported, and has every return once when it is up again', async () => {
  await rm(store, { recursive: true })
  const sent = [await echo('n0'), await echo('n1'), await echo('n2')]
  const down = await until('the outbox to say so', async () => {
    const { folder } = (await runner('returner.status')) as {
      folder: { state: string; queued: number; error: string }
    }
    return folder.state === 'down' && folder.queued >= 9 && folder
  })
  expect(down.error).toContain('ENOENT')
  await cluster.master.logged('Returner folder: its store accepts no records; they wait in the outbox.')
  const told = (await events()).map(({ tag }) => tag)
  expect(told).not.toContain('salt/returner/folder/down') // not in the whitelist

  await mkdir(store)
  await until('the outbox to be empty', async () => {
    const { folder } = (await runner('returner.status')) as { folder: { state: string; queued: number } }
    return folder.state === 'up' && folder.queued === 0
  })
  const jobs = (await runner('jobs.list_jobs', [], {
    ...FROM_FOLDER,
    search_function: 'test.echo',
  })) as object
  expect(Object.keys(jobs).sort()).toEqual(sent)
  for (const jid of Object.keys(jobs)) {
    const returns = (await runner('jobs.lookup_jid', [jid], FROM_FOLDER)) as object
    expect(Object.keys(returns).sort()).toEqual(['web1', 'web2'])
  }
})

test('a returner that hangs delays its own queue only, is named, and continues when it can', async () => {
  const loop = join(root, 'stubborn.loop')
  await writeFile(loop, '')
  const bus = await cluster.events()
  const told = bus.subscribe('salt/returner/stubborn/down')[Symbol.asyncIterator]()
  const jid = await echo('loop')
  await until('the other store to have it', () => existsSync(join(store, `ret ${jid} web2`)))
  const sentence = 'It did not answer for 5 seconds, as in an endless loop.'
  await cluster.master.logged(`Returner stubborn: ${sentence} Its process will be restarted.`)
  const { stubborn, folder } = await until('the state of the returner', async () => {
    const states = (await runner('returner.status')) as Record<string, { readonly state: string }>
    return states.stubborn?.state === 'down' ? states : undefined
  })
  expect(stubborn).toMatchObject({ error: sentence, dead: 0 })
  expect(folder).toMatchObject({ state: 'up', queued: 0, rate: expect.any(Number) })
  expect((await told.next()).value).toMatchObject({ data: { error: sentence } })
  await bus.close()
  await rm(loop)
  await until('both returns', async () => {
    const text = await readFile(join(root, 'stubborn'), 'utf8').catch(() => '')
    return ['web1', 'web2'].every((id) => text.includes(`${jid} ${id}`))
  })
})

test('a minion that did not return has a row with its state', async () => {
  const minion = cluster.minions.get('web2')!
  await minion.stop()
  const { stdout } = await cluster.salt('-L', 'web1,web2', 'test.echo', 'late', '-t', '1', '--show-jid')
  const row = join(store, `ret ${/\d{20}/.exec(stdout)?.[0]} web2`)
  await until('the row', () => existsSync(row))
  expect(JSON.parse(await readFile(row, 'utf8'))).toMatchObject({
    id: 'web2',
    success: false,
    state: 'not_connected',
    return: expect.stringContaining('Minion did not return. State: not_connected.'),
  })
  minion.output = ''
  minion.start()
  await minion.logged('is ready to receive jobs')
})

test('returner.test writes, reads and removes a return', async () => {
  const seen = (await runner('returner.test', ['folder'])) as string[]
  expect(seen.join(' ')).toMatch(/saved a return .* was read back .* is identical\. It was removed/)
})

test('a write-only store is reported as such when jobs are to be read from it', async () => {
  const { stdout, stderr, code } = await cluster.command(
    'salt-run',
    'jobs.list_jobs',
    'ext_source=rawfile_json',
  )
  expect(stdout + stderr).toContain('The returner rawfile_json is write-only')
  expect(code).not.toBe(0)
})

test.each([
  [{ event_return: 'rawfile_jsn' }, "There is no 'rawfile_jsn' in the returners."],
  [{ event_return: 'rawfile_json', 'rawfile_json.filename': '' }, 'rawfile_json.filename is wrong'],
])('a master does not start with %j, and says why', async (options, sentence) => {
  const directory = join(root, `failing${Object.keys(options).length}`)
  const master = new Daemon('salt-master', directory, {
    root_dir: directory,
    interface: '127.0.0.1',
    publish_port: await freePort(),
    ret_port: await freePort(),
    ...options,
  })
  await master.writeConfig()
  master.start()
  expect(await master.exited()).not.toBe(0)
  expect(master.output).toContain(sentence)
})
