import type { Log } from '../author/context.ts'
import type { SymmetricKey } from '../crypto/index.ts'
import type { PublishClient } from '../transport/contract.ts'
import { asNumber, asText } from '../wire/bytes.ts'
import { readLoad } from '../wire/envelope.ts'
import { type JobLoad, readJobLoad, readPublication, type Sealed } from '../wire/publication.ts'
import { type RawArguments, readRawArguments } from '../wire/raw-arguments.ts'
import type { SignInKeys } from './sign-in-client.ts'

export interface SubscriptionSettings {
  readonly frames: PublishClient
  readonly log: Log
  /** `sign_pub_messages`: publications without a valid signature of the master are refused. */
  readonly requireSignature: boolean
  credentials(): Promise<SignInKeys>
  /** Sign in again, unless that has happened since `stale` was handed out. */
  renew(stale: SignInKeys): Promise<SignInKeys>
  /** Called when a publication cannot be decrypted even then: the AES key may have changed again since it was sent. */
  onUndecryptable(): void
}

/**
 * A job with what distinguishes its publication from a replay: the serial number, which counts per AES key and, where several
 * masters have the same key, per publisher; `keyDigest` has the publisher, too.
 */
export interface ReceivedPublication {
  readonly job: JobLoad
  /** The arguments as typed, where that differs from their values. */
  readonly words?: RawArguments
  readonly serial: number | undefined
  readonly keyDigest: string
  /** True if the master sent it on request, and may have published it before. */
  readonly isRepeated?: boolean
}

/**
 * Receive jobs, verified and decrypted (wire protocol §9). When a publication cannot be decrypted, the minion signs in
 * again and retries once. If the key has changed several times since, that is reported, so that the minion can ask for the job.
 */
export async function* receiveJobs(settings: SubscriptionSettings): AsyncGenerator<ReceivedPublication> {
  for await (const frame of settings.frames) {
    const received = await open(frame, settings).catch((error: unknown) => {
      settings.onUndecryptable()
      settings.log.warn(`A publication could not be read: ${error instanceof Error ? error.message : error}`)
      return undefined
    })
    if (received) yield received
  }
}

async function open(
  frame: Uint8Array,
  settings: SubscriptionSettings,
): Promise<ReceivedPublication | undefined> {
  const { log } = settings
  const publication = readPublication(frame)
  if (!publication) return ignore(log, 'it is not an encrypted publication')
  let credentials = await settings.credentials()
  if (!trusted(publication, credentials, settings)) return ignore(log, unsigned(publication))
  let message = credentials.aes.decrypt(publication.load)
  if (!message) {
    credentials = await settings.renew(credentials)
    message = credentials.aes.decrypt(publication.load)
  }
  if (!message) {
    settings.onUndecryptable()
    return ignore(log, 'it is not encrypted with the AES key, even after signing in again')
  }
  const received = accept(message, credentials.aes, log)
  const words =
    received && publication.words && wordsOf(publication.words, received.job, credentials, settings)
  return received && { ...received, ...(words && { words }) }
}

/**
 * Return the arguments as typed. Those that are not signed by the master or belong to another job are dropped: the job
 * has their values anyway.
 */
function wordsOf(
  sealed: Sealed,
  { jid }: JobLoad,
  credentials: SignInKeys,
  settings: SubscriptionSettings,
): RawArguments | undefined {
  const message = trusted(sealed, credentials, settings) && credentials.aes.decrypt(sealed.load)
  const about = message ? readLoad(message) : undefined
  return about?.jid === jid ? readRawArguments(about.words) : undefined
}

function accept(message: Uint8Array, aes: SymmetricKey, log: Log): ReceivedPublication | undefined {
  const { serial, publisher, ...load } = readLoad(message) ?? {}
  const job = readJobLoad(load)
  if (!job) return ignore(log, 'it is not a job')
  const counter = asText(publisher, 64)
  return {
    job,
    serial: asNumber(serial),
    keyDigest: counter === undefined ? aes.digest() : `${aes.digest()} ${counter}`,
  }
}

function trusted(sealed: Sealed, credentials: SignInKeys, settings: SubscriptionSettings): boolean {
  const { signature, load } = sealed
  if (!signature) return !settings.requireSignature
  return credentials.masterKey.verify(load, signature.value, signature.algorithm)
}

const unsigned = ({ signature }: Sealed) =>
  signature
    ? 'its signature is not that of the master'
    : 'it is not signed by the master. Set sign_pub_messages: true there, or false here to accept unsigned publications'

function ignore(log: Log, reason: string): undefined {
  log.warn(`Ignored a publication: ${reason}.`)
}
