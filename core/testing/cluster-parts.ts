import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Log } from '../author/context.ts'
import { systemClock } from '../base/clock.ts'
import { currentUser } from '../base/current-user.ts'
import { deferred } from '../base/deferred.ts'
import type { Disposer } from '../base/disposer.ts'
import { SaltError } from '../base/errors.ts'
import { parseMinionId } from '../base/minion-id.ts'
import { withTimeout } from '../base/with-timeout.ts'
import { AesKeys } from '../channel/aes-keys.ts'
import { LocalClient, RunnerClient } from '../client/index.ts'
import { linkLocal } from '../client/local/master-link.ts'
import type { MasterStores } from '../client/services/master-services.ts'
import { loadMasterConfig, type MasterConfig } from '../config/index.ts'
import { PrivateKey, SymmetricKey } from '../crypto/index.ts'
import { type Event, EventPublisher, masterEventSockets, tags } from '../events/index.ts'
import { writeRootKeys } from '../keys/index.ts'
import { KeyFileStore } from '../keys/key-files.ts'
import { openPublisher } from '../master/publisher/publisher.ts'
import { openMasterWorker } from '../master/worker/open-worker.ts'
import { getTransport } from '../transport/index.ts'
import { serveRequests } from '../transport/serve-requests.ts'
import { Minions, type MinionsSettings } from './minions.ts'
import { recordingLog } from './recording-log.ts'

export type Options = Readonly<Record<string, unknown>>

export interface ClusterSetup {
  /** Ids of the minions, or ids with configuration options: `{ web1: { grains: { role: 'web' } } }`. */
  readonly minions: readonly string[] | Readonly<Record<string, Options>>
  /** Directories with the extensions to test (`module_dirs` of the master and all minions). */
  readonly moduleDirs?: readonly string[]
  /** Configuration options of the master. */
  readonly master?: Options
}

/** Where a cluster has its files, how its parts are connected, and where its minions log. */
export interface Wiring {
  /** An empty folder, which the caller removes; default: a temporary one. */
  readonly root?: string
  /** With `zeromq`, programs find the master by `-c` and the folder of its configuration. */
  readonly transport: 'memory' | 'zeromq'
  /** Default: the lines are recorded, for the error of a minion that does not sign in. */
  readonly minionLog?: Log
}

/** Longest time to wait until a minion has signed in. */
const START_MS = 20_000

export interface ClusterParts {
  readonly config: MasterConfig
  readonly client: LocalClient
  readonly runners: RunnerClient
  readonly minions: Minions
  readonly stores: MasterStores
  readonly events: readonly Event[]
  /** Where minions reach the master on the loopback address. */
  readonly ports: MinionsSettings['ports']
}

/** Open all parts of a cluster, and register them with `disposer`. */
export async function openParts(
  setup: ClusterSetup,
  disposer: Disposer,
  { root: given, transport: wire, minionLog }: Wiring = { transport: 'memory' },
): Promise<ClusterParts> {
  const root = given ?? (await temporaryRoot(disposer))
  const transport = getTransport(wire)
  const requests = disposer.own(await serveRequests(transport, { host: '127.0.0.1', port: 0 }))
  const config = await masterConfig(root, { transport: wire, ret_port: requests.port }, setup)
  const masterKey = await makeKeys(config)
  const aesKeys = new AesKeys(SymmetricKey.generate(), 0, systemClock)
  const bus = await openBus(config, disposer)
  const publisher = disposer.own(await openPublisher({ config, transport, aesKeys, masterKey }))
  const worker = await openMasterWorker(
    {
      config,
      aesKeys,
      log,
      clock: systemClock,
      fire: bus.fire,
      publish: (job, minions) => publisher.channel.publish(job, minions),
      requestRotation: async () => void aesKeys.rotate(undefined, { revoke: true }),
    },
    disposer,
  )
  requests.serve((frame) => worker.answer(frame))
  const stores = { jobs: worker.context.jobs, minions: worker.context.minions }
  const client = disposer.own(new LocalClient(config, await linkLocal(config, { jobs: stores.jobs })))
  const runners = disposer.own(new RunnerClient({ config, log, user: currentUser(), stores }))
  const ports = { master: requests.port, publish: publisher.server.port }
  const options = (id: string): Options => ({ module_dirs: config.module_dirs, ...optionsOf(setup, id) })
  const keys = new KeyFileStore(config.pki_dir)
  const onKey = (id: string, pem: string) => keys.replace('accepted', parseMinionId(id), pem)
  const minions = disposer.own(new Minions({ root, transport: wire, ports, options, onKey, log: minionLog }))
  await Promise.all(idsOf(setup).map((id) => startMinion(id, minions, bus)))
  return { config, client, minions, runners, stores, events: bus.events, ports }
}

async function temporaryRoot(disposer: Disposer): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'salt-cluster-'))
  disposer.defer(() => rm(root, { recursive: true, force: true }))
  return root
}

/** The log of the master and the client, which is discarded. */
const log: Log = recordingLog(() => {})

const idsOf = ({ minions }: ClusterSetup) => (isList(minions) ? minions : Object.keys(minions))
const optionsOf = ({ minions }: ClusterSetup, id: string) => (isList(minions) ? {} : minions[id])
const isList = (value: ClusterSetup['minions']): value is readonly string[] => Array.isArray(value)

/** Write the master's configuration, also for programs, and load it. */
async function masterConfig(
  root: string,
  reached: { readonly transport: string; readonly ret_port: number },
  { moduleDirs = [], master = {} }: ClusterSetup,
): Promise<MasterConfig> {
  const options = {
    root_dir: root,
    pki_dir: '/pki',
    cachedir: '/cache',
    sock_dir: '/run',
    user: currentUser(),
    interface: '127.0.0.1',
    publish_port: 0,
    ...reached,
    module_dirs: [...moduleDirs],
    ...master,
  }
  await writeFile(join(root, 'master'), JSON.stringify(options), { mode: 0o600 })
  return loadMasterConfig({ configDir: root }).config
}

async function makeKeys(config: MasterConfig): Promise<PrivateKey> {
  await mkdir(config.pki_dir, { recursive: true, mode: 0o700 })
  await mkdir(config.sock_dir, { recursive: true, mode: 0o700 })
  await writeRootKeys(config)
  const key = await PrivateKey.generate(2048)
  await writeFile(join(config.pki_dir, 'master.pem'), key.pem, { mode: 0o400 })
  return key
}

interface Bus {
  readonly events: Event[]
  fire(tag: string, data: object): Promise<boolean>
  /** Wait until an event with this tag is fired. */
  fired(tag: string): Promise<void>
}

/** Open the master's event bus, and record its events. */
async function openBus(config: MasterConfig, disposer: Disposer): Promise<Bus> {
  const events: Event[] = []
  const waiting = new Map<string, ReturnType<typeof deferred<void>>>()
  const publisher = disposer.own(
    await EventPublisher.open({
      ...masterEventSockets(config),
      onEvent: (event) => {
        events.push(event)
        waiting.get(event.tag)?.resolve()
      },
    }),
  )
  return {
    events,
    fire: async (tag, data) => {
      publisher.publish(tag, data)
      return true
    },
    fired: (tag) => {
      const fired = deferred<void>()
      waiting.set(tag, fired)
      return fired.promise
    },
  }
}

async function startMinion(id: string, minions: Minions, bus: Bus): Promise<void> {
  const started = bus.fired(tags.minionStart(id))
  await minions.start(id)
  await withTimeout(started, START_MS, () => lateSentence(id, minions))
}

const lateSentence = (id: string, minions: Minions) =>
  new SaltError('TIMEOUT', `The minion ${id} did not sign in. It logged:\n${minions.logged(id).join('\n')}`)
