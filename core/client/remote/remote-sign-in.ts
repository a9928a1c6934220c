import { join } from 'node:path'
import type { Log } from '../../author/context.ts'
import { SaltError } from '../../base/errors.ts'
import { type SignInKeys, signIn } from '../../channel/sign-in-client.ts'
import { fingerprint, type PrivateKey, SymmetricKey } from '../../crypto/index.ts'
import { loadKeyPair } from '../../keys/key-pair.ts'
import { checkKeyDirectory } from '../../keys/key-permissions.ts'
import { knownMasterKey } from '../../keys/minion-keys.ts'
import type { RequestClient } from '../../transport/contract.ts'
import { hadNoHandshake, noHandshakeText } from '../../transport/errors.ts'
import type { Algorithms } from '../../wire/envelope.ts'
import type { RemoteMaster } from './remote-master.ts'
import { retryUntilConnected } from './retry-until-connected.ts'

const TIMEOUT_MS = 10_000
const RETRY = { minMs: 1_000, maxMs: 15_000 }

export const algorithms: Algorithms = { encryption: 'OAEP-SHA1', signing: 'PKCS1v15-SHA1' }

/** Signs a client of the API in to its master, as minions do with protocol version 3. */
export class RemoteSignIn {
  readonly key: PrivateKey
  readonly #master: RemoteMaster
  readonly #client: RequestClient
  readonly #log: Log
  readonly #token = SymmetricKey.generate().text
  #current: Promise<SignInKeys> | undefined

  /** Load the key pair, or create it. @throws SaltError PERMISSIONS, KEY_INVALID */
  static async open(master: RemoteMaster, client: RequestClient, log: Log): Promise<RemoteSignIn> {
    const { pkiDir, keySize: bits, permissive } = master
    await checkKeyDirectory(pkiDir)
    return new RemoteSignIn(master, client, log, await loadKeyPair({ pkiDir, name: 'api', bits, permissive }))
  }

  private constructor(master: RemoteMaster, client: RequestClient, log: Log, key: PrivateKey) {
    this.#master = master
    this.#client = client
    this.#log = log
    this.key = key
  }

  /** @throws SaltError AUTHENTICATION_FAILED while the key is not accepted, MASTER_UNREACHABLE, … */
  credentials(): Promise<SignInKeys> {
    this.#current ??= this.#attempt()
    return this.#current
  }

  /** Sign in again, unless that has happened since `stale` was handed out. */
  async renew(stale: SignInKeys): Promise<SignInKeys> {
    const current = this.#current
    const isStale = (await current?.catch(() => undefined)) === stale
    if (isStale && this.#current === current) this.#current = undefined
    return this.credentials()
  }

  /** Wait until the key is accepted. Rejects if the master's key is not the known one, and when `signal` is aborted. */
  untilAccepted(signal: AbortSignal): Promise<SignInKeys> {
    return retryUntilConnected(() => this.credentials(), { retry: RETRY, log: this.#log, signal })
  }

  async #attempt(): Promise<SignInKeys> {
    const { id, host, port, pkiDir, finger, hash } = this.#master
    const known = knownMasterKey(join(pkiDir, 'api_master.pub'))
    try {
      if (!finger && !(await known.read()))
        this.#log.warn(`master_finger is not set: the first key that ${host} shows is trusted from now on.`)
      const outcome = await signIn({
        client: this.#client,
        timeoutMs: TIMEOUT_MS,
        id,
        key: this.key,
        known,
        algorithms,
        minimumVersion: 3,
        token: this.#token,
        ...(finger && { fingerprint: { expected: finger, hash } }),
      })
      if (outcome.state === 'accepted') return outcome.credentials
      throw this.#notAccepted(outcome.state)
    } catch (error) {
      this.#current = undefined
      if (!SaltError.is(error)) throw error
      if (error.code === 'TIMEOUT') throw unreachable(`${host}:${port}`, error)
      throw error.code === 'MASTER_KEY_CHANGED' ? changed(this.#master, error) : error
    }
  }

  #notAccepted(state: 'pending' | 'rejected' | 'full' | 'damaged'): SaltError {
    const { id, host, hash } = this.#master
    const finger = fingerprint(this.key.publicKey.pem, hash)
    if (state === 'damaged')
      return new SaltError(
        'AUTHENTICATION_FAILED',
        `The master ${host} cannot read the key that it has filed for this host (${id}). Its log names the file.`,
        { state },
      )
    return new SaltError(
      'AUTHENTICATION_FAILED',
      state === 'pending'
        ? `The master ${host} has received the key of this host, but it is not accepted yet. Its fingerprint is ${finger}; ` +
            `accept it there with: salt-key -a ${id}.`
        : `The master ${host} has rejected or denied the key of this host (${id}). Its fingerprint is ${finger}; compare it ` +
            `with what salt-key -f ${id} shows there.`,
      { state },
    )
  }
}

/** Return the error with the file name of this host's copy of the key. */
const changed = ({ host, pkiDir }: RemoteMaster, error: SaltError): SaltError =>
  new SaltError(
    error.code,
    `${error.message.replace(/ If its key was replaced.*$/, '')} The master is ${host}. If its key was replaced on purpose, remove ` +
      `${join(pkiDir, 'api_master.pub')} and start again.`,
    {},
    { cause: error },
  )

export const unreachable = (where: string, cause?: unknown): SaltError =>
  new SaltError(
    'MASTER_UNREACHABLE',
    `The master at ${where} does not answer${hadNoHandshake(cause) ? `: ${noHandshakeText}.` : '. Is it running, and may this host reach that port?'}`,
    {},
    { cause },
  )
