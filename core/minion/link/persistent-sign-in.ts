import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../author/context.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import {
  type KnownMaster,
  type SignInKeys,
  type SignInOutcome,
  signIn,
} from '../../channel/sign-in-client.ts'
import type { MinionConfig } from '../../config/index.ts'
import { fingerprint, type PrivateKey, type PublicKey } from '../../crypto/index.ts'
import { isJoinRefusal, joinRefusalTexts } from '../../keys/join-token.ts'
import { component } from '../../log/component.ts'
import type { RequestClient } from '../../transport/contract.ts'
import { hadNoHandshake, noHandshakeText } from '../../transport/errors.ts'
import { wasUnresolved } from '../../transport/peer-name.ts'
import type { Algorithms } from '../../wire/envelope.ts'
import { joinOf } from './join.ts'

export interface PersistentSignInSettings {
  readonly config: MinionConfig
  readonly id: string
  readonly key: PrivateKey
  readonly known: KnownMaster
  readonly signingKey: PublicKey | undefined
  readonly client: RequestClient
  /** Address of the master, for messages. */
  readonly address: string
  readonly algorithms: Algorithms
  readonly token: string
  /** Fail where a daemon would wait, since a user is waiting (`salt-call`). */
  readonly once: boolean
  readonly grains: () => Readonly<Record<string, unknown>>
  readonly log: Log
  readonly closing: AbortSignal
  /** Called after a sign-in that was answered or timed out, unless the minion gives up because of it. */
  onAttempt?(): void
  /** Called when the master accepts the key that it did not have, or did not accept, before. */
  onAcceptedAnew?(): void
}

/** Return the sentence with this minion's fingerprint, to be compared before the key is accepted. */
const fingerprintSentence = ({ id, key, config }: PersistentSignInSettings): string =>
  `Its fingerprint is ${fingerprint(key.publicKey.pem, config.hash_type)}. Compare it with the output of salt-key -f ${id} on the master.`

/** Return the sentence for a refused key. The answer of the master does not distinguish a rejected key from a denied one. */
const refusedSentence = (settings: PersistentSignInSettings, { address, id } = settings): string =>
  `The master ${address} has rejected this minion's key, or denied it because another one is accepted for the id ${id}. ` +
  `${fingerprintSentence(settings)} ` +
  `To accept it: salt-key -a ${id} --include-rejected --include-denied.`

/** Errors after which the minion does not retry. */
const FINAL: ReadonlySet<string> = new Set(['KEY_REJECTED', 'FINGERPRINT_WRONG'])

/**
 * Sign in until the master accepts this minion. Wait without limit while the key is pending or the master is unreachable
 * (wire protocol §6, §17). Rejects with KEY_REJECTED, FINGERPRINT_WRONG, or MASTER_UNREACHABLE after `master_tries`
 * rounds or, if its name does not resolve, as `retry_dns` and `retry_dns_count` say. With `once` it rejects in every case in
 * which it would have to wait.
 */
export async function signInUntilAccepted(settings: PersistentSignInSettings): Promise<SignInKeys> {
  const { config, log, address, closing, once, onAttempt } = settings
  const pause = (seconds: number) => {
    onAttempt?.()
    return delay(seconds * 1000, undefined, { signal: closing })
  }
  const randomDelay = () => Math.random() * config.random_reauth_delay
  let wait = config.acceptance_wait_time
  component(log, 'minion').debug('Master URI: {uri}', { uri: `tcp://${address}` })
  let unresolved = 0
  let wasUnaccepted = false
  for (let rounds = 1; ; ) {
    const outcome = await attempts(settings)
    if (outcome.state === 'accepted') {
      log.info(`Authentication with master at ${address} successful!`)
      onAttempt?.()
      if (wasUnaccepted || outcome.isNew) settings.onAcceptedAnew?.()
      return outcome.credentials
    }
    if (outcome.state !== 'unanswered') {
      report(settings, outcome, wait)
      wasUnaccepted ||= outcome.state !== 'full'
      await pause(wait)
      wait = Math.min(wait * 2, config.acceptance_wait_time_max || config.acceptance_wait_time)
      continue
    }
    if (!once && config.master_type !== 'failover' && wasUnresolved(outcome.error)) {
      const { retry_dns: seconds, retry_dns_count: most = Infinity } = config
      if (seconds === 0 || ++unresolved >= most) throw outcome.error
      await pause(seconds ?? randomDelay())
      continue
    }
    const isLast = once || (config.master_tries > 0 && rounds++ >= config.master_tries)
    if (isLast && !config.auth_safemode) throw unreachable(settings, outcome.error)
    await pause(randomDelay())
  }
}

interface Unanswered {
  readonly state: 'unanswered'
  readonly error: unknown
}

/** Sign in up to `auth_tries` times, until one attempt is answered. */
async function attempts(settings: PersistentSignInSettings): Promise<SignInOutcome | Unanswered> {
  const { config, log, address, closing, once } = settings
  for (let count = 1; ; count++) {
    component(log, 'minion').debug('Connecting to master. Attempt {count} of {tries}', {
      count,
      tries: config.auth_tries,
    })
    try {
      return await attempt(settings)
    } catch (error) {
      const code = SaltError.is(error) ? error.code : undefined
      if (closing.aborted || (code && FINAL.has(code)) || (once && code !== 'TIMEOUT')) throw error
      if (code === 'TIMEOUT' && count < config.auth_tries) {
        log.warn(
          `The master ${address} does not answer (sign-in ${count} of ${config.auth_tries})${handshakeHint(error) || '.'} Trying again.`,
        )
        settings.onAttempt?.()
        continue
      }
      if (!once) log.error(`Signing in to the master ${address} failed: ${messageOf(error)}`) // with `once` it is thrown
      return { state: 'unanswered', error }
    }
  }
}

async function attempt(settings: PersistentSignInSettings) {
  const { config, id, key, known, signingKey, client, algorithms, token } = settings
  const masterWasKnown = (await known.read()) !== undefined
  const log = component(settings.log, 'crypt')
  log.debug('Initializing new AsyncAuth for {auth}', {
    auth: [config.pki_dir, id, `tcp://${settings.address}`],
  })
  if (!masterWasKnown) log.debug('Master public key not found')
  const join = await joinOf(config, settings.log)
  const outcome = await signIn({
    client,
    timeoutMs: config.auth_timeout * 1000,
    id,
    key,
    known,
    algorithms,
    minimumVersion: config.minimum_auth_version,
    ...(signingKey && { signingKey }),
    ...(config.master_finger && {
      fingerprint: { expected: config.master_finger, hash: config.hash_type },
    }),
    ...autosignGrains(settings),
    ...(join && { join }),
    token,
  })
  if (outcome.state === 'accepted') log.debug('Decrypting the current master AES key')
  // Only a refusal that is signed by a master whose key this minion has is final, since anybody can send an unsigned one.
  const final = masterWasKnown && !config.rejected_retry
  if (outcome.state === 'rejected' && final)
    throw new SaltError(
      'KEY_REJECTED',
      `${refusedSentence(settings)} To let this minion retry after a refusal, set rejected_retry: true.`,
    )
  return outcome
}

type Refused = Exclude<SignInOutcome, { state: 'accepted' }>

/** Log why the minion waits. With `once` it is thrown instead. */
function report(settings: PersistentSignInSettings, { state, join }: Refused, wait: number): void {
  const { log, address, id, once } = settings
  const sentences = {
    pending: `The master ${address} has received this minion's key, but it is not accepted yet (salt-key -a ${id}). ${fingerprintSentence(settings)}${joinSentence(join)}`,
    damaged: `The master ${address} cannot read the key that it has filed for this minion. Its log names the file.`,
    full: `The master ${address} accepts no more minions (max_minions).`,
    rejected: refusedSentence(settings),
  }
  if (once) throw new SaltError('AUTHENTICATION_FAILED', sentences[state])
  const logAtLevel = state === 'pending' ? log.warn : log.error
  logAtLevel(`${sentences[state]} Asking again in ${wait} ${wait === 1 ? 'second' : 'seconds'}.`)
}

/** Return a sentence with the reason for which the master refused the join token, if it sent one. */
function joinSentence(join: string | undefined): string {
  return isJoinRefusal(join) ? ` The master did not accept the join token: it ${joinRefusalTexts[join]}.` : ''
}

function unreachable({ address, config }: PersistentSignInSettings, cause: unknown): SaltError {
  return new SaltError(
    'MASTER_UNREACHABLE',
    `The master ${address} cannot be reached: ${config.auth_tries || 1} sign-ins were not answered within ` +
      `${config.auth_timeout} seconds each (auth_tries, auth_timeout)${handshakeHint(cause) || '. Is it running, and is the address right?'}`,
    {},
    { cause },
  )
}

const handshakeHint = (error: unknown): string => (hadNoHandshake(error) ? `: ${noHandshakeText}.` : '')

function autosignGrains({ config, grains }: PersistentSignInSettings) {
  const names = config.autosign_grains
  if (!names.length) return {}
  const all = grains()
  return { autosignGrains: Object.fromEntries(names.map((name) => [name, all[name]])) }
}
