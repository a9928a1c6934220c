/** Manage containers and images of Docker, through its unix socket. */
import { CommandExecutionError, type Context, fn, p } from 'salt-ts'
import { docker, dockerJson, type Json } from './_docker/api.ts'

export const virtualName = 'docker'

const name = p.string()
const flag = (fallback: boolean) => p.default(p.boolean(), fallback)
const seconds = p.optional(p.integer({ minimum: 0 }))
const STOP_SECONDS = 10

/**
 * True if Docker answers.
 *
 * @example salt '*' docker.ping
 */
export const ping = fn(async (_, context) => (await docker('GET', '/_ping', context)).toString() === 'OK')

/**
 * Return the versions of Docker and its parts.
 *
 * @example salt '*' docker.version
 */
export const version = fn((_, context) => dockerJson<Json>('GET', '/version', context))

/**
 * Return what Docker says about this host.
 *
 * @example salt '*' docker.info
 */
export const info = fn((_, context) => dockerJson<Json>('GET', '/info', context))

/**
 * List the running containers by id; with `all`, those that are stopped too.
 *
 * @example salt '*' docker.ps
 * @example salt '*' docker.ps all=True
 */
export const ps = fn({ all: flag(false) }, ({ all }, context) => containers(all, context))

/**
 * List the images by id.
 *
 * @example salt '*' docker.images
 */
export const images = fn({ all: flag(false) }, async ({ all }, context) =>
  byId(await dockerJson<Json[]>('GET', `/images/json?all=${all}`, context)),
)

/**
 * Return what Docker has on a container.
 *
 * @example salt '*' docker.inspect_container mycontainer
 */
export const inspect_container = fn({ name }, ({ name }, context) => inspect(name, context))

/**
 * Return what Docker has on an image.
 *
 * @example salt '*' docker.inspect_image busybox
 */
export const inspect_image = fn({ name }, ({ name }, context) =>
  dockerJson<Json>('GET', `/images/${encodeURIComponent(name)}/json`, context),
)

/**
 * Return the state of a container: running, paused or stopped.
 *
 * @example salt '*' docker.state mycontainer
 */
export const state = fn({ name }, ({ name }, context) => stateOf(name, context))

/**
 * Start a container.
 *
 * @example salt '*' docker.start mycontainer
 */
export const start = fn({ name }, ({ name }, context) => change(name, 'start', 'running', context))

/**
 * Stop a container: it is killed if it has not ended after `timeout` seconds.
 *
 * @example salt '*' docker.stop mycontainer timeout=20
 */
export const stop = fn({ name, timeout: seconds }, async ({ name, timeout }, context) => {
  const { Config } = (await inspect(name, context)) as { Config?: { StopTimeout?: number } }
  const wait = timeout ?? Config?.StopTimeout ?? STOP_SECONDS
  return change(name, `stop?t=${wait}`, 'stopped', context)
})

/**
 * Restart a container.
 *
 * @example salt '*' docker.restart mycontainer
 */
export const restart = fn(
  { name, timeout: p.default(p.integer({ minimum: 0 }), STOP_SECONDS) },
  ({ name, timeout }, context) => change(name, `restart?t=${timeout}`, 'running', context),
)

/**
 * Kill a container.
 *
 * @example salt '*' docker.kill mycontainer
 */
export const kill = fn({ name }, ({ name }, context) => change(name, 'kill', 'stopped', context))

/**
 * Remove a container and return its id in a list. `force` also removes one that is running.
 *
 * @example salt '*' docker.rm mycontainer
 * @example salt '*' docker.rm mycontainer force=True
 */
export const rm = fn(
  { name, force: flag(false), volumes: flag(false) },
  async ({ name, force, volumes }, context) => {
    if (!force && (await stateOf(name, context)) === 'running') {
      throw new CommandExecutionError(
        `Container '${name}' is running, use force=True to forcibly remove this container`,
      )
    }
    const before = Object.keys(await containers(true, context))
    await docker('DELETE', `${pathOf(name)}?force=${force}&v=${volumes}`, context)
    const after = await containers(true, context)
    return before.filter((id) => !Object.hasOwn(after, id))
  },
)

const pathOf = (name: string): string => `/containers/${encodeURIComponent(name)}`

const inspect = (name: string, context: Context): Promise<Json> =>
  dockerJson<Json>('GET', `${pathOf(name)}/json`, context)

async function stateOf(name: string, context: Context): Promise<'running' | 'paused' | 'stopped'> {
  const { State } = (await inspect(name, context)) as { State?: { Paused?: boolean; Running?: boolean } }
  if (State?.Paused) return 'paused'
  return State?.Running ? 'running' : 'stopped'
}

async function change(name: string, action: string, expected: string, context: Context): Promise<object> {
  const old = await stateOf(name, context)
  if (old === expected && !action.startsWith('restart')) {
    return {
      result: false,
      state: { old: expected, new: expected },
      comment: `Container '${name}' already ${expected}`,
    }
  }
  await docker('POST', `${pathOf(name)}/${action}`, context)
  // A container that removes itself is gone when it has stopped.
  const now = await stateOf(name, context).catch(() => null)
  return { result: now === expected, state: { old, new: now } }
}

const containers = async (all: boolean, context: Context): Promise<Record<string, Json>> =>
  byId(await dockerJson<Json[]>('GET', `/containers/json?all=${all}`, context))

function byId(items: readonly Json[]): Record<string, Json> {
  return Object.fromEntries(
    items.map(({ Id, Created, ...rest }) => [String(Id), { ...rest, Time_Created_Epoch: Created }]),
  )
}
