import { CommandExecutionError, type Context } from 'salt-ts'
import { messageOf } from '#internal'
import { entriesOf, isMapping } from '../_values/traverse.ts'
import { DockerRefusal, docker, type Json } from './api.ts'
import { type Credentials, forget, keep, serverOf } from './credentials.ts'

export interface LoginOutcome {
  readonly retcode: number
  readonly Errors: readonly string[]
  readonly Results: Readonly<Record<string, boolean>>
}

/** Log in to registries, by default to all that are configured. */
export const logIn = (registries: readonly string[], context: Context): Promise<LoginOutcome> =>
  withEach(registries, context, async (registry, configured) => {
    const credentials = credentialsIn(registry, configured)
    const server = serverOf(registry)
    const given = { ...credentials, serveraddress: server }
    const answer = await docker('POST', '/auth', context, given).catch((error) => {
      // The reason may repeat what was sent.
      if (!(error instanceof DockerRefusal)) throw error
      throw new CommandExecutionError(error.reason.replaceAll(credentials.password, '<redacted>'))
    })
    // A registry that gives no token answers nothing, or an empty one.
    const { IdentityToken = '' } = JSON.parse(answer.toString() || '{}') as { IdentityToken?: string }
    await keep(server, credentials, IdentityToken, context)
  })

/** Log out of registries, by default of all that are configured. */
export const logOut = (registries: readonly string[], context: Context): Promise<LoginOutcome> =>
  withEach(registries, context, (registry) => forget(serverOf(registry), context))

async function withEach(
  registries: readonly string[],
  context: Context,
  act: (registry: string, configured: unknown) => Promise<void>,
): Promise<LoginOutcome> {
  const { found, errors: Errors } = await configuredRegistries(context)
  const Results: Record<string, boolean> = {}
  for (const registry of registries.length > 0 ? registries : found.keys()) {
    if (!found.has(registry)) {
      Errors.push(`No match found for registry '${registry}'`)
      continue
    }
    try {
      await act(registry, found.get(registry))
      Results[registry] = true
    } catch (error) {
      context.signal.throwIfAborted()
      if (!(error instanceof InvalidRegistry)) Results[registry] = false
      Errors.push(messageOf(error))
    }
  }
  const retcode = Errors.length > 0 ? 1 : 0
  if (retcode !== 0) context.retcode = retcode
  return { retcode, Errors, Results }
}

/** The configuration of a registry has no valid log-in. */
class InvalidRegistry extends CommandExecutionError {}

function credentialsIn(registry: string, configured: unknown): Credentials {
  if (!isMapping(configured)) throw new InvalidRegistry(`Invalid configuration for registry '${registry}'`)
  const known = new Map(entriesOf(configured))
  const missing = ['username', 'password'].find((key) => !known.has(key))
  if (missing) throw new InvalidRegistry(`Missing '${missing}' for registry '${registry}'`)
  return { username: String(known.get('username')), password: String(known.get('password')) }
}

interface Configured {
  readonly found: Map<string, unknown>
  readonly errors: string[]
}

/** Return the registries of `docker-registries`, and of all keys that end in `-docker-registries`. */
async function configuredRegistries({ call }: Context): Promise<Configured> {
  const errors: string[] = []
  const own = await call('config.get', { key: 'docker-registries', default: {} })
  if (!isMapping(own)) errors.push("'docker-registries' Pillar value must be a dictionary")
  const found = new Map(isMapping(own) ? entriesOf(own).map(([key, value]) => [String(key), value]) : [])
  const more = (await call('config.option', { value: '*-docker-registries', wildcard: true })) as Json
  for (const [name, registries] of Object.entries(more)) {
    if (!isMapping(registries)) errors.push(`Docker registry '${name}' was not specified as a dictionary`)
    else for (const [key, value] of entriesOf(registries)) found.set(String(key), value)
  }
  return { found, errors }
}
