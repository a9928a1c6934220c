import { createHash } from 'node:crypto'
import { encodeNetwork } from '../codec/index.ts'
import type { PrivateKey, SigningAlgorithm } from '../crypto/index.ts'
import type { PublishServer } from '../transport/contract.ts'
import { type JobLoad, packPublication, type Sealed } from '../wire/publication.ts'
import type { RawArguments } from '../wire/raw-arguments.ts'
import type { AesKeys } from './aes-keys.ts'

/** Topic of one minion (wire protocol §9): the hex SHA-1 of its id. */
export const minionTopic = (id: string): string => createHash('sha1').update(id, 'utf8').digest('hex')

/**
 * Return the topic of one run of a minion, by the token of its start (`core/wire/minion-start.ts`). Nothing is published to it: the
 * subscription shows the master that the run is connected. It is short, because libzmq looks through all topics, character
 * by character, whenever a connection ends.
 */
export const runTopic = (token: string): string => `${RUN}${token}`

/** Return the token of a run's topic; undefined for other topics. */
export const tokenOfRun = (topic: string): string | undefined =>
  topic.startsWith(RUN) ? topic.slice(RUN.length) : undefined

const RUN = '~'

export const BROADCAST_TOPIC = 'broadcast'
/** Topic of all syndics (wire protocol §9). */
export const SYNDIC_TOPIC = 'syndic'

export interface PublishChannelSettings {
  readonly server: PublishServer
  readonly aesKeys: AesKeys
  readonly masterKey: PrivateKey
  /** Signing algorithm; undefined if publications are not signed. */
  readonly signing: SigningAlgorithm | undefined
  /** `zmq_filtering`: send to topics instead of to everybody. */
  readonly filtering: boolean
  /** Send copies to syndics, too (`order_masters`). */
  readonly hasSyndics?: boolean
  /** Distinguishes the serial numbers of this publisher from those of others with the same AES key. */
  readonly publisher?: string | undefined
}

/** Encrypts, signs and numbers publications (wire protocol §9). */
export class PublishChannel {
  readonly #settings: PublishChannelSettings
  #serial = 0

  constructor(settings: PublishChannelSettings) {
    this.#settings = settings
  }

  /** Publish a job. `minions` are the ids it is addressed to, if known; `words` are its arguments as typed. */
  async publish(job: JobLoad, minions?: readonly string[], words?: RawArguments): Promise<void> {
    const { server, filtering, hasSyndics, publisher } = this.#settings
    const sealed = this.#seal({ ...job, serial: ++this.#serial, ...(publisher && { publisher }) })
    const frame = packPublication({
      ...sealed,
      ...(words && { words: this.#seal({ jid: job.jid, words }) }),
    })
    if (!filtering) return server.publish(frame)
    const syndics = hasSyndics ? [SYNDIC_TOPIC] : []
    const topics = minions ? [...minions.map(minionTopic), ...syndics] : [BROADCAST_TOPIC]
    for (const topic of topics) await server.publish(frame, topic)
  }

  /** Restart the serial numbers, which count per AES key. */
  keyRotated(): void {
    this.#serial = 0
  }

  #seal(message: Readonly<Record<string, unknown>>): Sealed {
    const { aesKeys, masterKey, signing } = this.#settings
    const load = aesKeys.current.encrypt(encodeNetwork(message))
    if (!signing) return { load }
    return { load, signature: { algorithm: signing, value: masterKey.sign(load, signing) } }
  }
}
