import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../author/context.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { type Credentials, type KnownMaster, type SignInOutcome, signIn } from '../channel/sign-in-client.ts'
import type { MinionConfig } from '../config/index.ts'
import { fingerprint, type PrivateKey, type PublicKey } from '../crypto/index.ts'
import { isJoinRefusal, joinReasons } from '../keys/join-token.ts'
import { component } from '../log/component.ts'
import type { RequestClient } from '../transport/contract.ts'
import { keptWaitingText, wasKeptWaiting } from '../transport/errors.ts'
import type { Algorithms } from '../wire/envelope.ts'
import { joinOf } from './join.ts'

export interface PersistentSignInSettings {
  readonly config: MinionConfig
  readonly id: string
  readonly key: PrivateKey
  readonly known: KnownMaster
  readonly signingKey: PublicKey | undefined
  readonly client: RequestClient
  /** Of the master, for messages. */
  readonly address: string
  readonly algorithms: Algorithms
  readonly token: string
  /** Give up where a daemon would wait: a person is waiting (`salt-call`). */
  readonly once: boolean
  readonly grains: () => Readonly<Record<string, unknown>>
  readonly log: Log
  readonly closing: AbortSignal
  /** The master has answered, or did not in time, and that is no reason to give up. */
  onAsked?(): void
}

/** What to compare before the key is accepted, or to find out whose key the master has. */
const fingerprintSentence = ({ id, key, config }: PersistentSignInSettings): string =>
  `This one's fingerprint is ${fingerprint(key.publicKey.pem, config.hash_type)}: compare it with salt-key -f ${id} there.`

/** The master says no, and not which of two reasons it has. */
const refusedSentence = (settings: PersistentSignInSettings, { address, id } = settings): string =>
  `The master ${address} has rejected this minion's key, or denied it because another one is accepted for the id ${id}. ` +
  `${fingerprintSentence(settings)} ` +
  `To accept it: salt-key -a ${id} --include-rejected --include-denied.`

/** Errors that waiting does not mend. */
const FINAL: ReadonlySet<string> = new Set(['KEY_REJECTED', 'FINGERPRINT_WRONG'])

/**
 * Sign in until the master accepts this minion, however long that takes: while its key is pending, while the master is
 * away (wire protocol §6, §17). Rejects with KEY_REJECTED, FINGERPRINT_WRONG, MASTER_UNREACHABLE after `master_tries`
 * rounds, and with `once` for whatever else would have to be waited for.
 */
export async function signInUntilAccepted(settings: PersistentSignInSettings): Promise<Credentials> {
  const { config, log, address, closing, once, onAsked } = settings
  const pause = (seconds: number) => {
    onAsked?.()
    return delay(seconds * 1000, undefined, { signal: closing })
  }
  let wait = config.acceptance_wait_time
  component(log, 'minion').debug('Master URI: {uri}', { uri: `tcp://${address}` })
  for (let rounds = 1; ; ) {
    const outcome = await attempts(settings)
    if (outcome.state === 'accepted') {
      log.info(`Authentication with master at ${address} successful!`)
      onAsked?.()
      return outcome.credentials
    }
    if (outcome.state !== 'unanswered') {
      report(settings, outcome, wait)
      await pause(wait)
      wait = Math.min(wait * 2, config.acceptance_wait_time_max || config.acceptance_wait_time)
      continue
    }
    const isLast = once || (config.master_tries > 0 && rounds++ >= config.master_tries)
    if (isLast && !config.auth_safemode) throw unreachable(settings, outcome.error)
    await pause(Math.random() * config.random_reauth_delay)
  }
}

interface Unanswered {
  readonly state: 'unanswered'
  readonly error: unknown
}

/** Up to `auth_tries` sign-ins, until one is answered in a way to act on. */
async function attempts(settings: PersistentSignInSettings): Promise<SignInOutcome | Unanswered> {
  const { config, log, address, closing, once } = settings
  for (let count = 1; ; count++) {
    component(log, 'minion').debug('Connecting to master. Attempt {count} of {tries}', {
      ...{ count, tries: config.auth_tries },
    })
    try {
      return await attempt(settings)
    } catch (error) {
      const code = SaltError.is(error) ? error.code : undefined
      if (closing.aborted || (code && FINAL.has(code)) || (once && code !== 'TIMEOUT')) throw error
      if (code === 'TIMEOUT' && count < config.auth_tries) {
        log.warn(
          `The master ${address} does not answer (sign-in ${count} of ${config.auth_tries})${whyNot(error) || '.'} Trying again.`,
        )
        settings.onAsked?.()
        continue
      }
      if (!once) log.error(`Signing in to the master ${address} failed: ${messageOf(error)}`) // else what is thrown says it
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
  // Only a refusal signed by a master this minion knows is believed; anybody can send another.
  const final = masterWasKnown && !config.rejected_retry
  if (outcome.state === 'rejected' && final)
    throw new SaltError(
      'KEY_REJECTED',
      `${refusedSentence(settings)} With rejected_retry: true this minion would go on asking.`,
    )
  return outcome
}

type Refused = Exclude<SignInOutcome, { state: 'accepted' }>

/** Why there is nothing to do but wait; with `once` that is an error. */
function report(settings: PersistentSignInSettings, { state, join }: Refused, wait: number): void {
  const { log, address, id, once } = settings
  const sentences = {
    pending: `The master ${address} has this minion's key, and nobody has accepted it yet (salt-key -a ${id}). ${fingerprintSentence(settings)}${joinSentence(join)}`,
    full: `The master ${address} takes no more minions (max_minions).`,
    rejected: refusedSentence(settings),
  }
  if (once) throw new SaltError('AUTHENTICATION_FAILED', sentences[state])
  const say = state === 'pending' ? log.warn : log.error
  say(`${sentences[state]} Asking again in ${wait} ${wait === 1 ? 'second' : 'seconds'}.`)
}

/** What became of the join token, as far as the master says. */
function joinSentence(join: string | undefined): string {
  return isJoinRefusal(join) ? ` The join token did not help: it ${joinReasons[join]}.` : ''
}

function unreachable({ address, config }: PersistentSignInSettings, cause: unknown): SaltError {
  return new SaltError(
    'MASTER_UNREACHABLE',
    `The master ${address} cannot be reached: ${config.auth_tries || 1} sign-ins were not answered within ` +
      `${config.auth_timeout} seconds each (auth_tries, auth_timeout)${whyNot(cause) || '. Is it running, and is the address right?'}`,
    {},
    { cause },
  )
}

const whyNot = (error: unknown): string => (wasKeptWaiting(error) ? `: ${keptWaitingText}.` : '')

function autosignGrains({ config, grains }: PersistentSignInSettings) {
  const names = config.autosign_grains
  if (!names.length) return {}
  const all = grains()
  return { autosignGrains: Object.fromEntries(names.map((name) => [name, all[name]])) }
}
