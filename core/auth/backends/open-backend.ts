import type { AuthBackend, Credentials } from '../../author/auth.ts'
import type { Log } from '../../author/context.ts'
import { isRecord } from '../../base/record.ts'
import type { MasterConfig } from '../../config/index.ts'
import type { Loader } from '../../loader/index.ts'
import { isSetting } from '../matching-entries.ts'
import type { Authentication, OpenBackend } from './contract.ts'

/** Time limit of a backend. Clients wait 30 s. */
const DEADLINE_MS = 20_000
const MAX_TEXT_CHARACTERS = 65_536

export interface BackendHost {
  readonly config: MasterConfig
  /** Loads plugins of the kind `auth`. */
  readonly loader: Pick<Loader, 'plugin'>
  readonly log: Log
  readonly deadlineMs?: number
}

/** Return a backend that runs in this process. It is loaded on its first use. */
export function openBackend(name: string, host: BackendHost): OpenBackend {
  const { config, loader, log, deadlineMs = DEADLINE_MS } = host
  let used: AuthBackend | undefined
  const load = async () => {
    used = await loader.plugin<AuthBackend>(name)
    return used
  }
  const facts = { opts: config, settings: settingsFor(name, config), log }
  return {
    credentials: async () => namesOf(await load()),
    async authenticate(given) {
      if (!isText(given.username) || !isText(given.password))
        return { refused: 'the name or the password is not a text' }
      const backend = await load()
      const signal = AbortSignal.timeout(deadlineMs)
      const late = new Promise<never>((_, reject) => {
        const reason = new Error(`it did not answer within ${deadlineMs / 1000} s`)
        signal.addEventListener('abort', () => reject(reason), { once: true })
      })
      const credentials = credentialsFor(backend, given)
      const answer: unknown = await Promise.race([
        backend.authenticate(credentials, { ...facts, signal }),
        late,
      ])
      return read(answer) ?? { unknowable: `the backend ${name} returned no valid answer` }
    },
    check: async () => (await (await load()).check?.(facts)) ?? [],
    close: async () => used?.close?.(),
  }
}

function settingsFor(name: string, { external_auth }: MasterConfig): Readonly<Record<string, unknown>> {
  const entries = external_auth[name]
  const settings = Object.entries(isRecord(entries) ? entries : {}).filter(([key]) => isSetting(key))
  return Object.fromEntries(settings.map(([key, value]) => [key.slice(1), value]))
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
