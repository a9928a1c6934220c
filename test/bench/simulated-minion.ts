/**
 * A minion as a master sees one: keys, session and connections of its own, generation 3. It runs nothing: every job
 * of two words is answered with `true`, `test.sleep` after so many seconds. What costs a real minion time (verifying and
 * opening the same publication) is done once per process, so that what is measured is the master and not a thousand
 * minions on its processors.
 */
import { setTimeout } from 'node:timers/promises'
import {
  asBytes,
  codec,
  crypto,
  deferred,
  getTransport,
  makeMissedJobsRequest,
  makeReturn,
  makeStartReport,
  natsTransport,
  newStartToken,
  packAes,
  readJobLoad,
  readLoad,
  readPublication,
  readStartAnswer,
  reconnectionWaits,
  runTopic,
  type StartAnswer,
  signIn,
} from './product.ts'

type Transport = ReturnType<typeof getTransport>
type RequestClient = ReturnType<Transport['connectRequests']>
type Credentials = Extract<Awaited<ReturnType<typeof signIn>>, { state: 'accepted' }>['credentials']
type PrivateKey = ReturnType<typeof crypto.PrivateKey.parse>

const algorithms = { encryption: 'OAEP-SHA1', signing: 'PKCS1v15-SHA1' } as const
const TIMEOUT_MS = 120_000
const NO_OPTIONS = { recon_default: undefined, recon_max: undefined, recon_randomize: true }

export interface Address {
  readonly host: string
  readonly port: number
  /** Each minion reports its start and subscribes to the topic of its run, as minions of salt-ts do; those of Python Salt do not. */
  readonly ownTopics: boolean
  /**
   * When the connection to the publish port was lost, each minion reconnects as one of salt-ts does, signs in and asks for missed jobs,
   * which it does not run.
   */
  readonly reconnects?: boolean
  /** How to reach NATS, if the minions and their master do that. Each minion has a connection of its own. */
  readonly nats?: Parameters<typeof natsTransport>[0]
}

/** A request that was encrypted beforehand, and what its reply must carry. */
export interface PreparedRequest {
  readonly frame: Uint8Array
  readonly nonce: string
}

export class SimulatedMinion {
  readonly id: string
  readonly #key: PrivateKey
  readonly #token: Buffer
  readonly #transport: Transport
  readonly #client: RequestClient
  readonly #address: Address
  #credentials: Credentials | undefined
  #frames: Awaited<ReturnType<Transport['subscribe']>> | undefined
  #isClosed = false
  /** How many times it has come back to its master. */
  timesBack = 0

  /** `token` is the key's seal of "salt", made once per key. */
  constructor(id: string, key: PrivateKey, token: Buffer, address: Address) {
    this.id = id
    this.#key = key
    this.#token = token
    this.#address = address
    this.#transport = address.nats ? natsTransport(address.nats) : getTransport('zeromq')
    this.#client = this.#transport.connectRequests(address)
  }

  /** Sign in and listen; resolves when publications arrive here. */
  async open(): Promise<void> {
    const { publishPort } = await this.#signIn()
    const token = newStartToken()
    const { reconnectMs } = this.#address.ownTopics ? await this.#reportStart(token) : await this.#fireStart()
    const frames = await this.#transport.subscribe({
      host: this.#address.host,
      port: publishPort,
      identity: this.id,
      topics: this.#address.ownTopics ? ['', runTopic(token)] : [],
      ...(reconnectMs !== undefined && reconnectionWaits(NO_OPTIONS, reconnectMs)),
    })
    const up = deferred<void>()
    let isFirst = true
    frames.onConnection((state) => {
      if (state !== 'up') return
      if (!isFirst && this.#address.reconnects)
        this.#comeBack().catch((error) => {
          if (!this.#isClosed) console.error(`${this.id}: ${error.message}`)
        })
      isFirst = false
      up.resolve()
    })
    await up.promise
    this.#frames = frames
    this.#answerJobs(frames).catch((error) => {
      if (!this.#isClosed) throw error // else nobody waits for the answer that was under way
    })
  }

  async #signIn(): Promise<Credentials> {
    const outcome = await signIn({
      client: this.#client,
      timeoutMs: TIMEOUT_MS,
      id: this.id,
      key: this.#key,
      known: { read: async () => undefined, write: async () => {} },
      algorithms,
      minimumVersion: 3,
      token: crypto.SymmetricKey.generate().text,
    })
    if (outcome.state !== 'accepted') throw new Error(`${this.id} was not accepted: ${outcome.state}`)
    this.#credentials = outcome.credentials
    return outcome.credentials
  }

  async #reportStart(token: string): Promise<StartAnswer> {
    const start = { token, address: '127.0.0.1', host: this.id, pid: process.pid }
    return readStartAnswer(await this.#ask(makeStartReport(this.id, start)))
  }

  /** Fire the event that a minion of Python Salt fires when it has started. */
  async #fireStart(): Promise<Partial<StartAnswer>> {
    const tag = `salt/minion/${this.id}/start`
    const data = `Minion ${this.id} started at ${new Date().toUTCString()}`
    await this.#ask({ cmd: '_minion_event', pretag: null, data, tag })
    return {}
  }

  async #comeBack(): Promise<void> {
    await this.#signIn()
    await this.#ask(makeMissedJobsRequest(this.id))
    this.timesBack++
  }

  /** Send an encrypted request; gives its answer. If it is refused, sign in again and try once more, as minions do. */
  async #ask(load: Readonly<Record<string, unknown>>): Promise<unknown> {
    const askOnce = async () => {
      const request = this.#seal(load)
      const sealed = asBytes(codec.decode(await this.send(request)))
      return sealed && this.#session.decrypt(sealed, request.nonce)
    }
    const opened = (await askOnce()) ?? (await this.#signIn().then(askOnce))
    if (!opened) throw new Error(`${this.id} got no answer to ${String(load.cmd)}`)
    return codec.decode(opened)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#frames?.close()
    await this.#client.close()
  }

  /** A return of `bytes` bytes to job `jid`, ready to be sent. */
  prepareReturn(jid: string, bytes: number): PreparedRequest {
    return this.#seal(
      makeReturn(
        { fun: 'cmd.run', arg: ['ls -l /'], tgt: '*', tgt_type: 'glob', jid, ret: '', user: 'root' },
        this.id,
        { return: 'x'.repeat(bytes), retcode: 0, success: true },
      ),
    )
  }

  send({ frame }: PreparedRequest): Promise<Uint8Array> {
    return this.#client.request(frame, TIMEOUT_MS)
  }

  /** Whether the reply is the master's acknowledgement of that request. */
  acknowledges(reply: Uint8Array, { nonce }: PreparedRequest): boolean {
    const sealed = asBytes(codec.decode(reply))
    return sealed !== undefined && this.#session.decrypt(sealed, nonce) !== undefined
  }

  get #session() {
    if (!this.#credentials) throw new Error(`${this.id} has not signed in`)
    return this.#credentials.request
  }

  async #answerJobs(frames: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const frame of frames) {
      const job = openJob(frame, this.#credentials!)
      if (!job || !isFor(job, this.id)) continue
      if (job.fun === 'test.sleep') void this.#answer(job, Number(job.arg[0]) * 1000)
      else await this.#answer(job)
    }
  }

  async #answer(job: NonNullable<Job>, afterMs = 0): Promise<void> {
    if (afterMs > 0) await setTimeout(afterMs)
    const outcome = { return: true, retcode: 0, success: true }
    const isTaken = async () => {
      const request = this.#seal(makeReturn(job, this.id, outcome))
      return this.acknowledges(await this.send(request), request)
    }
    if (await isTaken()) return
    await this.#signIn() // and again, as minions do
    await isTaken()
  }

  #seal(load: Readonly<Record<string, unknown>>): PreparedRequest {
    const nonce = crypto.newNonce()
    const full = { ...load, nonce, ts: Math.floor(Date.now() / 1000), tok: this.#token, id: this.id }
    const sealed = this.#session.encrypt(codec.encodeNetwork(full))
    return { frame: packAes({ load: sealed, version: 3, id: this.id, algorithms }), nonce }
  }
}

type Job = ReturnType<typeof readJobLoad>
let lastFrame: Uint8Array | undefined
let lastJob: Job

/** All minions of a process get the same bytes one after the other: the first one opens them. */
function openJob(frame: Uint8Array, { aes, masterKey }: Credentials): Job {
  if (lastFrame && Buffer.compare(lastFrame, frame) === 0) return lastJob
  const { load, signature } = readPublication(frame) ?? {}
  const trusted = load && signature && masterKey.verify(load, signature.value, signature.algorithm)
  const message = trusted ? aes.decrypt(load) : undefined
  lastJob = message && readJobLoad(readLoad(message) ?? {})
  lastFrame = frame
  return lastJob
}

/** As far as this bench aims. */
const isFor = ({ tgt }: NonNullable<Job>, id: string) =>
  Array.isArray(tgt) ? listed(tgt).has(id) : tgt === '*' || tgt === id

let lastList: readonly unknown[] | undefined
let lastIds: ReadonlySet<unknown> = new Set()

/** Of the job that all minions of a process look at one after the other. */
function listed(ids: readonly unknown[]): ReadonlySet<unknown> {
  if (ids !== lastList) lastIds = new Set(ids)
  lastList = ids
  return lastIds
}
