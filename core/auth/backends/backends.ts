import type { Credentials } from '../../author/auth.ts'
import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import type { MasterConfig } from '../../config/index.ts'
import { openLoader } from '../../loader/index.ts'
import { BackendChild } from './backend-child.ts'
import type { Authentication, OpenBackend } from './contract.ts'
import { openBackend } from './open-backend.ts'

/** Maximum number of concurrent requests to backends in one worker; more would only wait. */
const MAX_CONCURRENT = 32

/** The backends in `external_auth`. Each is opened on its first use. */
export class Backends {
  readonly #config: MasterConfig
  readonly #open: (name: string) => Promise<OpenBackend>
  readonly #opened = new Map<string, Promise<OpenBackend>>()
  #asked = 0

  constructor(config: MasterConfig, open: (name: string) => Promise<OpenBackend>) {
    this.#config = config
    this.#open = open
  }

  /** Never rejects. */
  async authenticate(name: string, given: Credentials): Promise<Authentication> {
    if (!Object.hasOwn(this.#config.external_auth, name))
      return { refused: `external_auth does not name the backend '${name.slice(0, 100)}'` }
    if (this.#asked >= MAX_CONCURRENT)
      return { unknowable: `${MAX_CONCURRENT} log-ins are being checked at the same time` }
    this.#asked++
    try {
      return await (await this.#backend(name)).authenticate(given)
    } catch (error) {
      return { unknowable: `the backend ${name} failed: ${messageOf(error)}` }
    } finally {
      this.#asked--
    }
  }

  /** Return the members of a request that a backend reads; none for an unknown backend. */
  async credentialsOf(name: string): Promise<readonly string[]> {
    if (!Object.hasOwn(this.#config.external_auth, name)) return []
    try {
      return await (await this.#backend(name)).credentials()
    } catch {
      return []
    }
  }

  /** Return sentences about backends that will not work. */
  async check(): Promise<string[]> {
    const checks = Object.keys(this.#config.external_auth).map(async (name) => {
      const place = `external_auth.${name}`
      try {
        const wrong = await (await this.#backend(name)).check()
        return wrong.map((text) => (text.startsWith(place) ? text : `${place}: ${text}`))
      } catch (error) {
        return [`${place} cannot be used: ${messageOf(error)}`]
      }
    })
    return (await Promise.all(checks)).flat()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#opened.values()].map(async (opening) => (await opening).close()))
  }

  #backend(name: string): Promise<OpenBackend> {
    const known = this.#opened.get(name)
    if (known) return known
    const opening = this.#open(name)
    this.#opened.set(name, opening)
    opening.catch(() => this.#opened.delete(name))
    return opening
  }
}

/**
 * Open the backends of a worker. Those of the package run in the worker; others run in processes of their own, so that one that loops,
 * exits, or throws when nobody waits for it ends none of the worker's requests, and is named in the log.
 */
export function openBackends(config: MasterConfig, log: Log): Backends {
  const loader = openLoader('auth', { config, log })
  return new Backends(config, async (name) =>
    (await loader.isBuiltIn(name))
      ? openBackend(name, { config, loader, log })
      : new BackendChild(name, { config, log }),
  )
}
