/**
 * Every request to a master (wire protocol §7, §8), from accepted minions, a client of the API, local clients and strangers: each is
 * answered or refused, no handler fails by accident, and nothing outside the master's folders is written.
 */
import { mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isBelow } from '../../../core/base/files/open-inside.ts'
import { isRecord } from '../../../core/base/record.ts'
import { decode, encodeNetwork, type Value } from '../../../core/codec/index.ts'
import { Invites, loadMasterKeys } from '../../../core/keys/index.ts'
import { createKeyDecider } from '../../../core/master/worker/key-decisions.ts'
import { createWorker } from '../../../core/master/worker/worker.ts'
import { CHECK_FUNCTION, catalogueHash } from '../../../core/wire/catalogue.ts'
import { packClear, readEnvelope, refusals } from '../../../core/wire/envelope.ts'
import type { JobLoad } from '../../../core/wire/publication.ts'
import { InProcessMaster } from '../../harness/in-process-master.ts'
import { Peer } from '../../harness/peer.ts'
import { memoryFolder } from '../memory-folder.ts'
import { must, type Target } from '../target.ts'
import { watchWrites } from '../write-watch.ts'

const JID = '20261120120000123456'
/** A master keeps few of the keys that strangers offer. */
const MAX_PENDING = 20
/** Failures of handlers that are caught and only logged. */
const FAILED = /^error (?:The (?:clear )?command|A request (?:failed|could not))/

type Load = Readonly<Record<string, unknown>>

const fred = { eauth: 'listed', username: 'fred', password: 'x' }
const catalogue = JSON.stringify({
  functions: { 'test.arg': { args: { kind: 'rest', schema: {} } }, 'test.ping': {} },
  missing: { nosuch: "'nosuch.*' is not available." },
})

/** Encrypted commands of minions. */
const commands: Readonly<Record<string, Load>> = {
  _return: {
    jid: JID,
    fun: 'test.ping',
    fun_args: ['a', { b: 1 }],
    return: { a: [1] },
    retcode: 0,
    success: true,
  },
  _syndic_return: { load: [{ id: 'wire2', jid: JID, return: { wire2: { return: 1 } } }] },
  _syndic_minions: { jid: JID, minions: ['web1', 'wire1'], unknown: ['web1'], waiting: [], awaits: ['low'] },
  _minion_event: {
    tag: 'my/tag',
    data: { a: 1 },
    pretag: null,
    events: [{ tag: 'salt/beacon/wire1/x', data: { a: 1 } }],
  },
  _handle_minion_event: { tag: 'my/tag', data: {} },
  _master_opts: {
    env_only: true,
    catalogues: true,
    start: { token: '0'.repeat(16), address: '::1', host: 'h', pid: 7 },
  },
  _master_tops: { opts: { id: 'wire1' } },
  _ext_nodes: { opts: { id: 'wire1' } },
  _mine: { data: { 'test.ping': true } },
  _mine_get: { tgt: '*', fun: 'test.ping' },
  _mine_delete: { fun: 'test.ping' },
  _mine_flush: {},
  _pillar: {
    grains: { os: 'Debian', list: [1] },
    saltenv: 'base',
    pillarenv: null,
    pillar_override: {},
    ver: '2',
  },
  _file_list: { saltenv: 'base', prefix: '' },
  _file_list_emptydirs: { saltenv: 'base', prefix: '' },
  _dir_list: { saltenv: 'base', prefix: '' },
  _symlink_list: { saltenv: 'base', prefix: '' },
  _file_envs: {},
  _file_hash: { path: 'top.sls', saltenv: 'base' },
  _file_hash_and_stat: { path: 'top.sls', saltenv: 'base' },
  _file_find: { path: 'top.sls', saltenv: 'base' },
  _serve_file: { path: 'top.sls', saltenv: 'base', loc: 0, gzip: 5 },
  _file_recv: { path: ['dir', 'x'], loc: 0, data: 'x', size: 1, reasons: true },
  minion_pub: {
    fun: 'test.ping',
    arg: ['a=1'],
    tgt: '*',
    tgt_type: 'glob',
    ret: '',
    tmo: 1,
    form: 'clean',
    explain: true,
  },
  minion_publish: {
    fun: 'test.ping,test.arg',
    arg: [[], ['a']],
    tgt: 'wire*',
    tgt_type: 'compound',
    tmo: 0,
    form: 'full',
  },
  minion_runner: { fun: 'test.arg', arg: ['x'], explain: true },
  pub_ret: { jid: JID },
  verify_minion: {},
  _catalogue: { hash: catalogueHash(catalogue), catalogue },
  _verdict: { jid: JID, refusals: ['no', null] },
  _missed_jobs: { after: [0, JID] },
  revoke_auth: { preserve_minion_cache: false },
}

const publish = {
  tgt: '*',
  tgt_type: 'glob',
  fun: 'test.arg',
  arg: ['a', { __kwarg__: true, b: 1 }],
  ret: '',
  jid: '',
}
const extras = {
  metadata: { a: 1 },
  delimiter: ':',
  ret_config: 'x',
  module_executors: ['sudo'],
  executor_opts: {},
}
const batch = { ...publish, kwargs: { batch: '50%', batch_wait: 1, failhard: true } }

/** Commands of local clients; each comes with the key of the master's user, with the credentials of a user, or with neither. */
const clear: Readonly<Record<string, Load>> = {
  ping: { a: 1 },
  publish: { ...publish, kwargs: extras, timeout: 5 },
  _plan: { ...publish, fun: ['test.arg', 'nosuch.fun'], arg: [['a'], []] },
  runner: { fun: 'jobs.list_jobs', kwarg: { arg: ['x'], kwarg: { a: 1 } } },
  wheel: { fun: 'key.list', match: 'accepted', kwarg: { match: 'all' } },
  mk_token: { ...fred },
  get_token: { token: 'ab'.repeat(32) },
  _revoke_token: { token: 'ab'.repeat(32) },
  _auth: {},
}

const more: readonly Load[] = [
  { cmd: 'mk_token', ...fred, password: { toString: 1 } },
  { cmd: 'publish', ...batch, check: true, words: { args: ['a', null], kwargs: { b: '1' } } },
  {
    cmd: 'publish',
    ...publish,
    fun: ['test.arg', 'cmd.run'],
    arg: [['a'], ['id']],
    tgt: ['wire1'],
    tgt_type: 'list',
    check: true,
  },
  { cmd: 'publish', ...publish, tgt: [{ toString: 1 }], tgt_type: 'list' },
  {
    cmd: 'publish',
    ...publish,
    tgt: 'G@os:Debian and not E@x',
    tgt_type: 'compound',
    fun: 'nosuch.fun',
    check: true,
  },
  { cmd: '_return', ...commands._return, jid: 'req' },
  { cmd: '_return', ...commands._return, jid: `${JID}_argspec`, fun: 'sys.argspec' },
  { cmd: '_minion_event', tag: `salt/job/${JID}/prog/wire1/1`, data: { return: 1 } },
  { cmd: '_minion_event', tag: 'salt/minion/wire1/start', data: 'text' },
  { cmd: '_minion_event', events: [{ tag: JID, data: { minions: ['web1', 2] } }], pretag: 'syndic/wire1' },
  { cmd: '_minion_event', events: [{ tag: `salt/job/${JID}/prog/web1/0`, data: { return: 1 } }] },
]

const clientCommands = (token: string): Readonly<Record<string, Load>> => ({
  _client_request: {
    load: { cmd: 'publish', ...publish, user: 'root', kwargs: { token } },
    via: { address: '::1' },
  },
  _client_event: { tag: 'salt/netapi/hook/x', data: { a: 1 } },
  _client_returns: { jid: JID, ids: ['wire1', 'wire2'] },
  _client_silence: { ids: ['wire1', 'wire2'] },
  _client_refusal: { act: 'publish', user: 'root', fun: 'test.ping', reason: 'x', address: '::1' },
})

const options = {
  peer: { '.*': ['.*'] },
  peer_run: { wire1: ['jobs.*'] },
  api_clients: ['api-*'],
  file_recv: true,
  external_auth: {
    listed: { '^users': { fred: { password: 'x', groups: [] } }, fred: ['.*', '@runner', '@wheel', '@jobs'] },
  },
  publisher_acl: { alice: ['test.*'] },
  python_job_cache: true,
  minimum_auth_version: 2,
  max_minions: 0,
  order_masters: true,
  login_attempts: 10_000,
  auth_dirs: [fileURLToPath(new URL('../../fixtures/auth', import.meta.url))],
  nodegroups: { web: 'wire*', loop: 'N@loop' },
}

export default async (): Promise<Target> => {
  // Below several folders, so that a path of peers that leads upwards ends in one that is looked at.
  const home = await mkdtemp(join(memoryFolder(), 'salt-fuzz-handlers-'))
  mkdirSync(join(home, 'a', 'b'), { recursive: true })
  const before = process.env.TMPDIR
  process.env.TMPDIR = join(home, 'a', 'b')
  const master = await InProcessMaster.open({
    options,
    maxPending: MAX_PENDING,
    publish: async (job, ids) => obey(job, ids),
  })
  if (before === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = before
  const { context } = master
  const answer = await workerWithoutProcesses(master)
  const [wire1, wire2, api] = await Promise.all([
    Peer.named('wire1'),
    Peer.named('wire2'),
    Peer.named('api-1'),
  ])
  const peers = [wire1, wire2, api]
  await welcome()
  const key = await master.rootKey()
  const { token } = decode(await answer(packClear({ cmd: 'mk_token', ...fred }))) as { token: string }
  const watch = watchWrites()
  const turns = new Turns()

  /** Accept the peers, whose keys a request may have removed. */
  async function welcome(): Promise<void> {
    for (const peer of peers) {
      await master.file(peer.id, peer.key.publicKey)
      await peer.signIn(answer)
    }
    await master.setConnected(['wire1'])
  }

  /** Do as minions do with a job: report on a check, or return at once. */
  async function obey({ jid, fun, arg }: JobLoad, recipients?: readonly string[]): Promise<void> {
    for (const id of recipients ?? context.jobs.load(jid)?.minions ?? [])
      if (fun === CHECK_FUNCTION) {
        const calls = [arg[0]].flat().map(() => 'it is not here')
        context.callChecks.report(id, { jid, refusals: calls })
      } else
        await context.jobs
          .saveReturn(jid, id, { jid, id, fun, return: true, retcode: 0, success: true })
          .catch(() => undefined)
  }

  async function sent(peer: Peer, load: Load, version: number): Promise<string> {
    const given = { load: { id: peer.id, ...load }, version }
    const sealed =
      version === 3
        ? peer.seal({}, { load, version })
        : peer.sealOld({}, { ...given, load: { tok: peer.token, ...given.load } })
    const reply = sealed.open(await answer(sealed.frame))
    const isPillar = isRecord(reply) && isRecord(reply.refused) && 'pillar' in reply.refused
    return isRecord(reply) && 'refused' in reply && !isPillar
      ? `refused ${nameOf(reply.refused)}`
      : 'answered'
  }

  async function said(load: Load): Promise<string> {
    const reply = decode(await answer(packClear(load)))
    return isRecord(reply) && 'error' in reply ? 'refused' : nameOf(reply)
  }

  /** By the first byte of an input: who sends it, and how. */
  const senders: readonly ((load: Load) => Promise<string>)[] = [
    (load) => sent(wire1, load, 3),
    (load) => sent(wire2, load, 2),
    (load) => sent(api, load, 3),
    (load) => said({ key, user: master.config.user, ...load }),
    (load) => said({ ...fred, user: 'fred', ...load }),
    (load) => said({ token, user: 'fred', kwargs: { token }, ...load }),
    (load) => said(load),
  ]

  async function run(input: Buffer): Promise<string> {
    const load = loadIn(input.subarray(1))
    if (!load) return turns.together(() => raw(input.subarray(1)))
    const sender = (input[0] ?? 0) % senders.length
    const request = async () => {
      const outcome = await senders[sender]?.(load)
      return `${typeof load.cmd === 'string' && isKnown(load.cmd) ? load.cmd : 'another command'} ${sender} ${outcome}`
    }
    return load.cmd === 'revoke_auth'
      ? turns.alone(() => request().finally(restore))
      : turns.together(request)
  }

  async function raw(frame: Buffer): Promise<string> {
    const { enc } = readEnvelope(frame)
    decode(await answer(frame))
    return `frame ${enc}`
  }

  async function restore(): Promise<void> {
    master.rotations = 0
    await welcome()
  }

  async function check(): Promise<void> {
    const failures = master.logged.filter((line) => FAILED.test(line))
    must(failures.length === 0, failures.join('\n'))
    const strange = [...watch.written].filter((place) => !isBelow(place, master.root))
    must(strange.length === 0, `It wrote ${strange}`)
    watch.written.clear()
    for (const list of [master.events, master.published, master.logged]) list.length = 0
    for (const id of await context.keys.list('pending')) await context.keys.remove([id], ['pending'])
    for (const id of await context.keys.list('denied')) await context.keys.remove([id], ['denied'])
    const reply = await turns.alone(() => sent(wire1, { cmd: '_file_envs' }, 3))
    must(reply === 'answered', `After all of that, the master answers an honest minion: ${reply}`)
  }

  const seeds = [
    ...Object.entries(commands).flatMap(([cmd, load]) =>
      [0, 1].map((sender) => seed(sender, { cmd, ...load })),
    ),
    ...Object.entries(clientCommands(token)).map(([cmd, load]) => seed(2, { cmd, ...load })),
    ...Object.entries(clear).flatMap(([cmd, load]) =>
      [3, 4, 5, 6].map((sender) => seed(sender, { cmd, ...load })),
    ),
    ...more.map((load) => seed(String(load.cmd).startsWith('_') ? 0 : 3, load)),
    seed(6, { ...(decode(wire1.signInFrame()) as { load: Load }).load, id: 'new' }),
    seed(6, { ...(decode(wire2.signInFrame()) as { load: Load }).load, autosign_grains: { a: 'b' } }),
    Buffer.concat([Buffer.from([0]), wire1.signInFrame().subarray(0, 100)]),
  ]

  return {
    form: 'message',
    choices: [senders.length],
    words: knownNames(),
    seeds,
    run,
    check,
    atOnce: 32,
    patienceMs: 60_000,
    close: async () => {
      watch.stop()
      await master.close()
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** Lets requests run together, but for those that remove a key: these run alone, since others would fail for want of it. */
class Turns {
  readonly #running = new Set<Promise<unknown>>()
  #alone: Promise<unknown> = Promise.resolve()

  async together<T>(act: () => Promise<T>): Promise<T> {
    await this.#alone
    const running = act()
    this.#running.add(running)
    return running.finally(() => this.#running.delete(running))
  }

  alone<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#alone.then(async () => {
      await Promise.allSettled(this.#running)
      return act()
    })
    this.#alone = turn.catch(() => undefined)
    return turn
  }
}

/** The worker of a master that starts no processes for runners and wheel functions. */
async function workerWithoutProcesses(master: InProcessMaster) {
  const { config, aesKeys, sessions } = master
  const context = {
    ...master.context,
    startRun: async () => ({
      end: Promise.resolve({ return: true, success: true }),
      gone: Promise.resolve(),
      leave: () => undefined,
    }),
  } as unknown as InProcessMaster['context']
  const clock = { now: () => master.now }
  const { log, keys, keyAudit, fire, publish, requestRotation } = context
  const around = {
    config,
    aesKeys,
    log,
    clock,
    fire,
    publish,
    requestRotation,
    maxPending: MAX_PENDING,
  }
  const invites = new Invites(config.pki_dir, { clock })
  const decide = createKeyDecider(around, { keys, keyAudit, invites })
  return createWorker({
    context,
    sessions,
    aesKeys,
    decide,
    log,
    clock,
    masterKeys: await loadMasterKeys(config),
  })
}

const seed = (sender: number, load: Load): Buffer =>
  Buffer.concat([Buffer.from([sender]), encodeNetwork(load)])

const isKnown = (cmd: string): boolean =>
  Object.hasOwn(commands, cmd) || Object.hasOwn(clear, cmd) || Object.hasOwn(clientCommands(''), cmd)

const knownNames = (): string[] => [
  ...Object.keys(commands),
  ...Object.keys(clear),
  ...[
    'wire1',
    'wire2',
    'api-1',
    'fred',
    JID,
    'compound',
    'list',
    'nodegroup',
    'pcre',
    'grain',
    'N@web',
    'wire*',
    'salt/key',
  ],
  ...[
    `salt/job/${JID}/ret/wire1`,
    'salt/minion/wire1/start',
    'salt/job/error',
    'test.ping',
    'cmd.run',
    'publish.publish',
  ],
]

function loadIn(message: Buffer): Load | undefined {
  let value: Value
  try {
    value = decode(message)
  } catch {
    return undefined
  }
  return isRecord(value) && canBeSent(value) ? value : undefined
}

/** Whether a request has room for the load, which is a level deeper in it. */
function canBeSent(load: Load): boolean {
  try {
    return packClear(load).length > 0
  } catch {
    return false
  }
}

function nameOf(reply: unknown): string {
  if (typeof reply === 'string') return reply.replace(/id .*/, 'id …').slice(0, 40)
  return Object.values<unknown>(refusals).includes(reply) ? 'refused' : 'answered'
}
