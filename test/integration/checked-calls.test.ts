/** Calls that cannot work are refused before anything is stored or published; whatever may work goes out. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Catalogues } from '../../core/cache/catalogues.ts'
import { decode } from '../../core/codec/index.ts'
import { minionDataDirectory } from '../../core/config/cachedir.ts'
import { SymmetricKey } from '../../core/crypto/index.ts'
import { encryptedHandlers } from '../../core/master/handlers/index.ts'
import { catalogueHash } from '../../core/wire/catalogue.ts'
import { packClear } from '../../core/wire/envelope.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { InProcessCluster } from '../harness/in-process-cluster.ts'
import { keyPair } from '../harness/key-pairs.ts'
import { until } from '../harness/until.ts'

let cluster: InProcessCluster
let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-modules-')
  await mkdir(join(folder, 'modules'))
})
afterEach(async () => {
  await cluster?.close()
  await removeFolder(folder)
})

const module = (name: string, text: string) => writeFile(join(folder, 'modules', `${name}.js`), text)

async function open(
  minions: readonly string[],
  extra: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  cluster = await InProcessCluster.open({
    transport: 'memory',
    minions,
    minion: { module_dirs: [folder] },
    ...extra,
  })
  for (const id of minions) await reported(id)
}
const reported = (id: string) =>
  until(`the catalogue of ${id}`, () => cluster.master.context.catalogues.hash(id) !== undefined)

interface Reply {
  readonly load?: {
    readonly jid?: string
    readonly refusals?: unknown
    readonly plan?: Record<string, unknown>
  }
  readonly error?: { readonly name: string; readonly message: string }
}

async function ask(load: Record<string, unknown>): Promise<Reply> {
  const key = await cluster.master.rootKey()
  const request = { cmd: 'publish', tgt: '*', arg: [], user: 'root', key, check: true, ...load }
  return decode(await cluster.master.answer(packClear(request))) as Reply
}
const published = () => cluster.master.published.filter(({ job }) => job.fun !== '_check').length
const jobs = () => [...cluster.master.context.jobs.list()].length

describe('a call that no minion would run', () => {
  test.each([
    [{ fun: 'test.pign' }, "'test.pign' is not available. Did you mean 'test.ping'?"],
    [
      { fun: 'test.sleep', arg: ['soon'] },
      `Passed invalid arguments to test.sleep: 'length' must be a number, not "soon"`,
    ],
    [
      { fun: 'test.sleep', arg: [1, 'lenght=2'] },
      "ERROR executing 'test.sleep': The following keyword arguments are not valid: lenght=2. Did you mean 'length'?",
    ],
    [
      { fun: ['test.pign', 'test.sleep'], arg: [[], []] },
      "'test.pign' is not available. Did you mean 'test.ping'? Passed invalid arguments to test.sleep: " +
        "sleep() missing 1 required positional argument: 'length'",
    ],
  ])('%j is refused with the sentence, stored nowhere and not published', async (load, sentence) => {
    await open(['web1', 'web2'])
    const before = [published(), jobs()]
    const { error } = await ask(load)
    expect(error).toEqual({
      name: 'CallRefused',
      message: `No command was sent, because no minion would run it: ${sentence}`,
    })
    expect([published(), jobs()]).toEqual(before)
  })

  test('the event and the log of it quote no arguments', async () => {
    await open(['web1'])
    await ask({ fun: 'test.ping', arg: ['pasword=hunter2'] })
    const event = cluster.master.events.find(({ tag }) => tag.endsWith('/error'))
    expect(event?.data).toMatchObject({ error: { name: 'CallRefused', message: 'No minion would run it.' } })
    expect(cluster.master.logged.join('\n')).toContain('Refused to publish test.ping')
    expect(cluster.master.logged.join('\n')).not.toContain('hunter2')
  })

  test('no answer of a minion to the check is on disk', async () => {
    await open(['web1'])
    expect((await ask({ fun: 'test.ping', arg: ['pasword=hunter2'] })).error?.message).toContain('hunter2')
    const stored = await readFile(Catalogues.path(minionDataDirectory(cluster.master.config)), 'latin1')
    expect(stored).not.toContain('hunter2')
  })

  test('is published for clients that do not ask for a check, such as the programs of Python Salt', async () => {
    await open(['web1'])
    expect((await ask({ fun: 'test.pign', check: undefined })).load?.jid).toEqual(expect.any(String))
  })
})

describe('arguments of a function that is in no catalogue of the master or the minion', () => {
  const secrets = () => {
    const { context, events, logged } = cluster.master
    const loads = [...context.jobs.list()].map((job) => [job.load, ...context.jobs.returns(job.jid).values()])
    return JSON.stringify([loads, events, logged]).includes('hunter2')
  }

  test('are masked as a whole, since its new file may call them secret', async () => {
    await open(['web1'])
    await module(
      'db',
      `import { fn, p } from 'salt-ts'\nexport const set = fn({ user: p.string(), password: p.secret(p.string()) }, () => true)\n`,
    )
    const { load } = await ask({ fun: 'db.set', arg: ['root', 'hunter2'] })
    await cluster.returned(load?.jid as string, 'web1')
    expect(secrets()).toBe(false)
  })

  test('are in no event, whether the call is refused or sent without a check', async () => {
    await open(['web1'])
    expect((await ask({ fun: 'db.set', arg: ['root', 'hunter2'] })).error?.name).toBe('CallRefused')
    const { load } = await ask({ fun: 'db.set', arg: ['root', 'hunter2'], check: undefined })
    await cluster.returned(load?.jid as string, 'web1')
    expect(secrets()).toBe(false)
  })

  test('are masked too for a minion that has not reported yet, and shown if the target has only Python minions', async () => {
    await open(['web1'])
    const { context } = cluster.master
    await context.catalogues.remove('web1')
    const { load } = await ask({ fun: 'db.set', arg: ['root', 'hunter2'] })
    await cluster.returned(load?.jid as string, 'web1')
    expect(secrets()).toBe(false)
    await cluster.master.file('py1', (await keyPair('minion')).publicKey)
    await context.minions.save('py1', { grains: { pythonversion: [3, 10, 0] } })
    await ask({ fun: 'db.set', arg: ['root', 'shown'], tgt: 'py1' })
    expect(cluster.master.events.at(-1)?.data).toMatchObject({ arg: ['root', 'shown'] })
  })

  test('are shown if the function is a plain one, or one without secret parameters', async () => {
    await module('plain', 'export const now = () => 7\n')
    await open(['web1'])
    for (const fun of ['plain.now', 'test.arg']) {
      await ask({ fun, arg: ['shown'] })
      expect(cluster.master.events.findLast(({ tag }) => tag.endsWith('/new'))?.data).toMatchObject({
        arg: ['shown'],
      })
    }
  })
})

test('after a refresh of modules the master knows new functions', async () => {
  await open(['web1'])
  await module('fresh', 'export const now = () => 7\n')
  expect(await cluster.run('web1', 'saltutil.refresh_modules')).toEqual({ web1: true })
  const { catalogues } = cluster.master.context
  expect(catalogues.text(catalogues.hash('web1')!)).toContain('"fresh.now"')
})

describe('catalogues that are too large together', () => {
  const padded = (name: string, params: object) =>
    JSON.stringify({ functions: { [name]: params }, missing: { pad: 'x'.repeat(400_000), name } })
  const save = async (id: string, text: string) => {
    await cluster.master.file(id, (await keyPair('minion')).publicKey)
    await cluster.master.context.catalogues.save(id, { hash: catalogueHash(text), text })
  }
  const newJob = () => cluster.master.events.findLast(({ tag }) => tag.endsWith('/new'))?.data

  test('mask secrets of the targeted minions if these are few, and everything if they are many', async () => {
    cluster = await InProcessCluster.open({ transport: 'memory', minions: [] })
    const secret = { password: { kind: 'value', schema: { type: 'string' }, secret: true } }
    for (let n = 10; n < 55; n++)
      await save(`many${n}`, JSON.stringify({ n, ...JSON.parse(padded('db.get', {})) }))
    await save('zone1', padded('db.set', { ...secret, user: { kind: 'value', schema: {} } }))
    await ask({ fun: 'db.set', arg: ['hunter2', 'root'], tgt: 'zone1' })
    expect(newJob()).toMatchObject({ arg: ['**********', 'root'] })
    await ask({ fun: 'db.get', arg: ['hunter2'], tgt: 'many*' })
    expect(newJob()).toMatchObject({ arg: ['**********'] })
  })
})

describe('a call that may work goes out', () => {
  test('with the ids of the minions that would refuse it', async () => {
    await module('here', 'export const now = () => true\n')
    await open(['web1', 'web2'], { minion: (id: string) => ({ module_dirs: id === 'web1' ? [folder] : [] }) })
    // A minion that has no time to answer is sent the call without more ado.
    const load = await until('a job with refusals', async () => {
      const answer = await ask({ fun: 'here.now' })
      return answer.load?.refusals ? answer.load : undefined
    })
    expect(load.refusals).toEqual([{ minions: ['web2'], reason: "'here.now' is not available." }])
    await cluster.returned(load.jid as string, 'web1')
  })

  test('if a minion has a new file that is not yet in its catalogue', async () => {
    await open(['web1', 'web2'])
    await module('fresh', 'export const now = () => 7\n')
    const { load } = await ask({ fun: 'fresh.now' })
    expect(load).not.toHaveProperty('refusals')
    await cluster.returned(load?.jid as string, 'web2')
    expect(cluster.master.context.jobs.return(load?.jid as string, 'web2')?.return).toBe(7)
  })

  test('if a minion that would refuse it does not answer', async () => {
    await open(['web1', 'web2'])
    await cluster.stopMinion('web2')
    expect((await ask({ fun: 'test.pign' })).load?.jid).toEqual(expect.any(String))
    await cluster.master.setConnected(['web1'])
    expect((await ask({ fun: 'test.pign' })).error?.name).toBe('CallRefused')
  })

  test('if the catalogue of a minion is unknown, or if one of several functions is available', async () => {
    await open(['web1'])
    expect((await ask({ fun: ['test.ping', 'test.pign'], arg: [[], []] })).load?.refusals).toEqual([
      { minions: ['web1'], reason: "'test.pign' is not available. Did you mean 'test.ping'?" },
    ])
    await cluster.master.context.catalogues.remove('web1')
    expect((await ask({ fun: 'test.pign' })).load?.jid).toEqual(expect.any(String))
  })

  test('if an executor may run it elsewhere', async () => {
    await open(['web1'])
    const kwargs = { module_executors: ['docker'] }
    expect((await ask({ fun: 'test.pign', kwargs })).load?.jid).toEqual(expect.any(String))
  })
})

describe('a plan', () => {
  test('says what each minion would do, with secrets masked, and sends nothing', async () => {
    await module(
      'user',
      `import { fn, p } from 'salt-ts'\nexport const add = fn({ name: p.string(), password: p.secret(p.string()) }, () => true)\n`,
    )
    await open(['web1', 'web2'])
    await cluster.master.setConnected(['web1'])
    const before = [published(), jobs(), cluster.master.events.length]
    const words = { args: ['1.10', '0755'], kwargs: {} }
    const { load } = await ask({ cmd: '_plan', fun: 'user.add', arg: [1.1, 755], words })
    expect(load?.plan).toMatchObject({
      allowed: true,
      minions: ['web1', 'web2'],
      connected: ['web1'],
      groups: [
        {
          minions: ['web1', 'web2'],
          calls: [{ fun: 'user.add', known: true, arguments: { name: '1.10', password: '**********' } }],
        },
      ],
    })
    expect([published(), jobs(), cluster.master.events.length]).toEqual(before)
  })

  test('names the user who may not publish the job and the rules, and nothing else', async () => {
    await open(['web1'], { master: { publisher_acl: { alice: ['test.ping'] }, auto_accept: true } })
    const { text: key } = SymmetricKey.generate()
    await writeFile(join(cluster.master.config.cachedir, '.alice_key'), key, { mode: 0o600 })
    const about = { cmd: '_plan', user: 'alice', key }
    expect((await ask({ ...about, fun: 'cmd.run' })).load?.plan).toEqual({
      allowed: false,
      user: 'alice',
      reason: 'alice may not run cmd.run: no rule of publisher_acl allows it.',
    })
    expect((await ask({ ...about, fun: 'test.ping' })).load?.plan).toMatchObject({ allowed: true })
    expect((await ask({ ...about, key: 'wrong', fun: 'test.ping' })).error?.name).toBe('AuthenticationError')
  })
})

test('catalogues are accepted only from verified minions, and only readable ones', async () => {
  await open(['web1', 'web2'])
  const { catalogues } = cluster.master.context
  expect(catalogues.hash('web1')).toBe(catalogues.hash('web2'))
  const own = catalogues.hash('web1')
  const handle = encryptedHandlers(cluster.master.context).get('_catalogue')!
  const sender = (verified: boolean) =>
    ({ id: 'web1', verified, version: 3, fingerprint: Buffer.alloc(32) }) as unknown as Parameters<
      typeof handle
    >[1]
  const text = JSON.stringify({ functions: {}, missing: {} })
  const load = { cmd: '_catalogue', id: 'web1', hash: catalogueHash(text), catalogue: text }
  expect(await handle(load, sender(false))).toEqual({})
  expect(await handle({ ...load, catalogue: '[]' }, sender(true))).toEqual({ known: true })
  expect(catalogues.hash('web1')).toBe(own)
  expect(await handle(load, sender(true))).toEqual({ known: true })
  expect(catalogues.hash('web1')).toBe(catalogueHash(text))
})

describe('a Python minion', () => {
  const argspecs = { 'test.ping': { args: null, defaults: null, varargs: null, kwargs: null } }
  const questions = () => cluster.master.published.filter(({ job }) => job.fun === 'sys.argspec')

  async function addPythonMinion(): Promise<void> {
    await open(['web1'])
    await cluster.master.file('py1', (await keyPair('minion')).publicKey)
    await cluster.master.context.minions.save('py1', { grains: { pythonversion: [3, 10, 0] } })
  }
  async function answer(): Promise<void> {
    const { jid } = questions().at(-1)!.job
    const ret = { cmd: '_return', id: 'py1', jid, fun: 'sys.argspec', fun_args: ['*'], return: argspecs }
    const handle = encryptedHandlers(cluster.master.context).get('_return')!
    expect(
      await handle(ret, { id: 'py1', verified: true, fingerprint: Buffer.alloc(32) } as never),
    ).toBeNull()
  }

  test('is asked once for its functions, after a job for it; the question is no job, and the answer is kept', async () => {
    await addPythonMinion()
    await ask({ fun: 'test.ping', tgt: 'py1' })
    await until('it to be asked', () => questions().length === 1)
    expect(questions()[0]).toMatchObject({ minions: ['py1'], job: { arg: ['*'], tgt: ['py1'] } })
    const before = [jobs(), cluster.master.events.length]
    await answer()
    expect([jobs(), cluster.master.events.length]).toEqual(before)
    const { load } = await ask({ fun: 'test.pign' })
    expect(load?.refusals).toEqual([
      { minions: ['py1', 'web1'], reason: "'test.pign' is not available. Did you mean 'test.ping'?" },
    ])
    expect(questions()).toHaveLength(1)
  })

  test('never causes a job to be refused, and is asked again after a restart of it', async () => {
    await addPythonMinion()
    await ask({ fun: 'test.ping', tgt: 'py1' })
    await until('it to be asked', () => questions().length === 1)
    await answer()
    expect((await ask({ fun: 'test.pign', tgt: 'py1' })).load?.jid).toEqual(expect.any(String))
    const handle = encryptedHandlers(cluster.master.context).get('_minion_event')!
    const start = { cmd: '_minion_event', id: 'py1', tag: 'salt/minion/py1/start', data: 'started' }
    await handle(start, { id: 'py1', verified: true, fingerprint: Buffer.alloc(32, 1) } as never)
    await until('it not to count as asked', () => cluster.master.context.catalogues.asked('py1') === 0)
    await ask({ fun: 'test.ping', tgt: 'py1' })
    await until('it to be asked again', () => questions().length === 2)
  })
})
