import type { AuthBackend, Authenticated, Credentials } from '../author/auth.ts'
import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import { isRecord } from '../base/record.ts'
import type { MasterConfig } from '../config/index.ts'
import { openLoader } from '../loader/index.ts'
import { isSetting } from './matching-entries.ts'

/** Time limit of a backend. Clients wait 30 s. */
const DEADLINE_MS = 20_000
/** Maximum number of concurrent requests to backends in one worker; more would only wait. */
const MAX_CONCURRENT = 32
const MAX_TEXT_CHARACTERS = 65_536

/** The user; or why the user is refused, or cannot be checked now (`unknowable`): sentences for the log. */
export type Authentication =
  | { readonly known: Authenticated }
  | { readonly refused: string }
  | { readonly unknowable: string }

export interface BackendSettings {
  readonly deadlineMs?: number
}

/** The backends in `external_auth`. Each is loaded on its first use. */
export class Backends {
  readonly #config: MasterConfig
  readonly #log: Log
  readonly #deadlineMs: number
  readonly #loader: ReturnType<typeof openLoader>
  readonly #used = new Set<AuthBackend>()
  #asked = 0

  constructor(config: MasterConfig, log: Log, { deadlineMs = DEADLINE_MS }: BackendSettings = {}) {
    this.#config = config
    this.#log = log
    this.#deadlineMs = deadlineMs
    this.#loader = openLoader('auth', { config, log })
  }

  /** Never rejects. */
  async authenticate(name: string, given: Credentials): Promise<Authentication> {
    if (!Object.hasOwn(this.#config.external_auth, name))
      return { refused: `external_auth does not name the backend '${name.slice(0, 100)}'` }
    if (this.#asked >= MAX_CONCURRENT)
      return { unknowable: `${MAX_CONCURRENT} log-ins are being checked at the same time` }
    this.#asked++
    try {
      return await this.#ask(name, given)
    } catch (error) {
      return { unknowable: `the backend ${name} failed: ${messageOf(error)}` }
    } finally {
      this.#asked--
    }
  }

  /** Return the members of a request that a backend reads; none for an unknown backend. */
  async credentialsOf(name: string): Promise<readonly string[]> {
    if (!Object.hasOwn(this.#config.external_auth, name)) return []
    return this.#loaded(name).then(namesOf, () => [])
  }

  /** Return sentences about backends that will not work. */
  async check(): Promise<string[]> {
    const checks = Object.keys(this.#config.external_auth).map(async (name) => {
      try {
        const backend = await this.#loaded(name)
        const wrong = await backend.check?.(this.#factsFor(name))
        const place = `external_auth.${name}`
        return (wrong ?? []).map((text) => (text.startsWith(place) ? text : `${place}: ${text}`))
      } catch (error) {
        return [`external_auth.${name} cannot be used: ${messageOf(error)}`]
      }
    })
    return (await Promise.all(checks)).flat()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#used].map((backend) => backend.close?.()))
  }

  async #ask(name: string, given: Credentials): Promise<Authentication> {
    if (!isText(given.username) || !isText(given.password))
      return { refused: 'the name or the password is not a text' }
    const backend = await this.#loaded(name)
    const signal = AbortSignal.timeout(this.#deadlineMs)
    const late = new Promise<never>((_, reject) => {
      const reason = new Error(`it did not answer within ${this.#deadlineMs / 1000} s`)
      signal.addEventListener('abort', () => reject(reason), { once: true })
    })
    const credentials = credentialsFor(backend, given)
    const answer: unknown = await Promise.race([
      backend.authenticate(credentials, { ...this.#factsFor(name), signal }),
      late,
    ])
    return read(answer) ?? { unknowable: `the backend ${name} returned no valid answer` }
  }

  async #loaded(name: string): Promise<AuthBackend> {
    const backend = await this.#loader.plugin<AuthBackend>(name)
    this.#used.add(backend)
    return backend
  }

  #factsFor(name: string) {
    const entries = this.#config.external_auth[name]
    const settings = Object.entries(isRecord(entries) ? entries : {}).filter(([key]) => isSetting(key))
    return {
      opts: this.#config,
      settings: Object.fromEntries(settings.map(([key, value]) => [key.slice(1), value])),
      log: this.#log,
    }
  }
}

/** Return the credentials that a backend reads, and nothing else, so that clients cannot choose its settings. */
function credentialsFor(backend: AuthBackend, given: Credentials): Credentials {
  const members = namesOf(backend).map(
    (name) => [name, Object.hasOwn(given, name) ? given[name] : undefined] as const,
  )
  return Object.fromEntries(members.filter(([, value]) => value !== undefined && !isTooLong(value)))
}

const namesOf = ({ credentials = [] }: AuthBackend): string[] => ['username', 'password', ...credentials]

const isText = (value: unknown): boolean => value === undefined || typeof value === 'string'

const isTooLong = (value: unknown): boolean => typeof value === 'string' && value.length > MAX_TEXT_CHARACTERS

function read(answer: unknown): Authentication | undefined {
  if (!isRecord(answer)) return undefined
  if (typeof answer.refused === 'string') return { refused: answer.refused }
  const { name, groups = [], permissions } = answer
  if (typeof name !== 'string' || name === '' || name.length > 256) return undefined
  if (!Array.isArray(groups) || !groups.every((group) => typeof group === 'string')) return undefined
  if (permissions !== undefined && !Array.isArray(permissions)) return undefined
  return { known: { name, groups, ...(permissions && { permissions }) } }
}
