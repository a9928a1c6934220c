/** A worker of a master in the test's own process: real stores and keys in a temporary folder, bus and publisher noted down. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../core/author/context.ts'
import { Disposer } from '../../core/base/disposer.ts'
import { AesKeys } from '../../core/channel/aes-keys.ts'
import { connectedFile } from '../../core/config/cachedir.ts'
import { loadMasterConfig, type MasterConfig } from '../../core/config/index.ts'
import { fingerprint, PublicKey, SymmetricKey } from '../../core/crypto/index.ts'
import type { Event } from '../../core/events/index.ts'
import { readRootKey, writeRootKeys } from '../../core/keys/index.ts'
import { sanitize } from '../../core/log/sanitize.ts'
import type { WorkerContext } from '../../core/master/worker/context.ts'
import { type OpenWorker, openMasterWorker } from '../../core/master/worker/open-worker.ts'
import { openStore } from '../../core/store/index.ts'
import { recordingLog } from '../../core/testing/recording-log.ts'
import type { JobLoad } from '../../core/wire/publication.ts'
import { temporaryFolder } from './folder.ts'
import { keyPair } from './key-pairs.ts'
import { isAlive, signalAll, withEnvironment } from './processes.ts'
import { until } from './until.ts'

export interface MasterSetup {
  /** Options of the master's configuration. */
  readonly options?: Readonly<Record<string, unknown>>
  /** Text of the AES key. */
  readonly aes?: string
  /** Content of the key file of root. */
  readonly rootKey?: string
  readonly maxPending?: number
  /** Is given every job besides its being noted down. */
  readonly publish?: WorkerContext['publish']
}

/** Set in the environment of the processes that a master starts to its folder. */
const MARK = 'SALT_TEST_MASTER'
/** In the command line of a process that runs a runner or wheel function. */
const RUN_PROCESS = 'background-process'

const FOLDERS = { accepted: 'minions', pending: 'minions_pre', rejected: 'minions_rejected' } as const

/** Time that a restart takes by the clock of the master. */
const RESTART_MS = 1_000

export class InProcessMaster {
  readonly root: string
  readonly config: MasterConfig
  readonly aesKeys: AesKeys
  readonly events: Event[] = []
  readonly published: { readonly job: JobLoad; readonly minions: readonly string[] | undefined }[] = []
  readonly logged: string[] = []
  /** How often a new AES key was asked for. */
  rotations = 0
  /** The time, in milliseconds; stands still until it is set. */
  now = Date.UTC(2026, 10, 21)
  readonly #setup: MasterSetup
  #disposer = new Disposer()
  #worker!: OpenWorker

  static async open(setup: MasterSetup = {}): Promise<InProcessMaster> {
    const root = await temporaryFolder('salt-master-')
    const overrides = {
      root_dir: root,
      pki_dir: '/pki',
      cachedir: '/cache',
      sock_dir: '/run',
      client_acl_verify: false,
      ...setup.options,
    }
    const { config } = loadMasterConfig({ configDir: root, overrides })
    process.env[MARK] = root
    const master = new InProcessMaster(root, config, setup)
    await master.#prepare()
    await master.#start()
    return master
  }

  private constructor(root: string, config: MasterConfig, setup: MasterSetup) {
    this.root = root
    this.config = config
    this.#setup = setup
    const aes = setup.aes ? SymmetricKey.parse(setup.aes) : SymmetricKey.generate()
    this.aesKeys = new AesKeys(aes, 300_000, { now: () => this.now })
  }

  get context(): OpenWorker['context'] {
    return this.#worker.context
  }

  get sessions(): OpenWorker['sessions'] {
    return this.#worker.sessions
  }

  /** One reply frame to one request frame. */
  answer(frame: Uint8Array): Promise<Uint8Array> {
    return this.#worker.answer(frame)
  }

  /** As the master does when it is started again: what is not on disk is forgotten. The AES key stays. */
  async restart(meanwhile?: () => Promise<void>): Promise<void> {
    await this.#disposer.close()
    await meanwhile?.()
    this.now += RESTART_MS // or job ids of before would be minted again, and minions ignore those
    this.#disposer = new Disposer()
    await this.#start()
  }

  async close(): Promise<void> {
    await this.#disposer.close()
    // Runners and wheel functions in processes of their own would make the folder again.
    const runs = withEnvironment(MARK, this.root)
      .filter(({ command }) => command.includes(RUN_PROCESS)) // esbuild's service has the mark too, if it started meanwhile
      .map(({ pid }) => pid)
    signalAll(runs, 'SIGKILL')
    await until('the runs to be gone', () => !runs.some(isAlive))
    await rm(this.root, { recursive: true, force: true, maxRetries: 5 }) // what ends meanwhile may write there
  }

  /** File a minion's key as if an administrator had done so. */
  async file(id: string, key: PublicKey | string, state: keyof typeof FOLDERS = 'accepted'): Promise<void> {
    const folder = join(this.config.pki_dir, FOLDERS[state])
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(join(folder, id), key instanceof PublicKey ? key.pem : key)
  }

  /** Let a minion with this accepted key have this session key. */
  async installSession(id: string, owner: PublicKey, text: string): Promise<void> {
    const store = openStore(join(this.config.cachedir, 'sessions.mdb'))
    await store.put(['session', id], { text, owner: fingerprint(owner.pem, 'sha256'), made: this.now })
    await store.close()
  }

  async setConnected(ids: readonly string[]): Promise<void> {
    await writeFile(connectedFile(this.config), JSON.stringify({ present: ids, lost: [] }))
  }

  /** What proves to be the master's user. */
  async rootKey(): Promise<string> {
    return (await readRootKey(this.config, this.config.user)) ?? ''
  }

  async #prepare(): Promise<void> {
    const { pki_dir, cachedir, user, master_sign_pubkey } = this.config
    await mkdir(pki_dir, { recursive: true, mode: 0o700 })
    await writeRootKeys(this.config)
    for (const name of ['master', ...(master_sign_pubkey ? ['master_sign'] : [])]) {
      await writeFile(join(pki_dir, `${name}.pem`), (await keyPair(name)).pem, { mode: 0o400 })
    }
    const { rootKey } = this.#setup
    if (rootKey) await writeFile(join(cachedir, `.${user}_key`), rootKey, { mode: 0o600 })
  }

  async #start(): Promise<void> {
    const { maxPending } = this.#setup
    this.#worker = await openMasterWorker(
      {
        config: this.config,
        aesKeys: this.aesKeys,
        log: this.#log(),
        clock: { now: () => this.now },
        fire: async (tag, data) => this.events.push({ tag, data: structuredClone(data) }) > 0,
        publish: async (job, minions, words) => {
          this.published.push({ job, minions })
          await this.#setup.publish?.(job, minions, words)
        },
        requestRotation: async () => this.#rotate(),
        ...(maxPending !== undefined && { maxPending }),
      },
      this.#disposer,
    )
  }

  /** As the main process of a master does when a key was deleted. */
  #rotate(): void {
    this.rotations++
    this.aesKeys.rotate(undefined, { revoke: true })
  }

  #log(): Log {
    return recordingLog((level, message, facts) =>
      this.logged.push(`${level} ${message} ${facts ? JSON.stringify(sanitize(facts)) : ''}`.trim()),
    )
  }
}
