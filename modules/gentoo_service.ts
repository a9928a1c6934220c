/** Manage services with OpenRC, on Alpine and Gentoo. */
import { type Context, fn, p, type Virtual } from 'salt-ts'
import { changeRunlevels, runningServices, runScript, serviceRunlevels } from './_service/openrc.ts'
import { pidsLike, stateOf } from './_service/status.ts'
import { isBooted } from './_systemd/booted.ts'

export const virtualName = 'service'
export const virtual: Virtual = async (facts) =>
  facts.grains.os === 'Alpine' ||
  (facts.grains.os === 'Gentoo' && !(await isBooted(facts))) ||
  'The gentoo_service execution module cannot be loaded: only available on Gentoo/Open-RC systems.'

const name = p.string({ description: 'The name of a service, which is that of its script.' })
const runlevels = p.optional(p.union(p.string(), p.array(p.string())))
const kwargs = p.keywords(p.any({ description: 'Ignored: what other providers of this name take.' }))

/**
 * Return the services that are started at boot, with the runlevels that start them.
 *
 * @example salt '*' service.get_enabled
 */
export const get_enabled = fn((_, context) => enabledServices(context))

/**
 * List the services that no runlevel starts, sorted.
 *
 * @example salt '*' service.get_disabled
 */
export const get_disabled = fn((_, context) => disabledServices(context))

/**
 * List the services that run, sorted.
 *
 * @example salt '*' service.get_running
 */
export const get_running = fn((_, context) => runningServices(context))

/**
 * True if there is a service of this name.
 *
 * @example salt '*' service.available sshd
 */
export const available = fn({ name }, ({ name }, context) => isThere(name, context))

/**
 * True if there is no service of this name.
 *
 * @example salt '*' service.missing sshd
 */
export const missing = fn({ name }, async ({ name }, context) => !(await isThere(name, context)))

/**
 * Return all services, with the runlevels that start them.
 *
 * @example salt '*' service.get_all
 */
export const get_all = fn((_, context) => serviceRunlevels(context))

/**
 * Start a service; true if that succeeds.
 *
 * @example salt '*' service.start sshd
 */
export const start = fn({ name }, ({ name }, context) => runScript(name, 'start', context))

/**
 * Stop a service; true if that succeeds.
 *
 * @example salt '*' service.stop sshd
 */
export const stop = fn({ name }, ({ name }, context) => runScript(name, 'stop', context))

/**
 * Stop and start a service; true if that succeeds.
 *
 * @example salt '*' service.restart sshd
 */
export const restart = fn({ name }, ({ name }, context) => runScript(name, 'restart', context))

/**
 * Let a service read its configuration again; true if that succeeds.
 *
 * @example salt '*' service.reload sshd
 */
export const reload = fn({ name }, ({ name }, context) => runScript(name, 'reload', context))

/**
 * Let OpenRC consider a service stopped, whatever it does; true if that succeeds.
 *
 * @example salt '*' service.zap sshd
 */
export const zap = fn({ name }, ({ name }, context) => runScript(name, 'zap', context))

/**
 * True if a service runs, by what its script says, or with `sig` if a line of `ps` matches it. For a shell pattern, a map of
 * all services that match it.
 *
 * @example salt '*' service.status sshd
 * @example salt '*' service.status 'ssh*'
 */
export const status = fn(
  { name, sig: p.optional(p.string()) },
  async ({ name, sig }, context): Promise<boolean | Record<string, boolean>> => {
    if (sig) return (await pidsLike(sig, context)) !== ''
    return stateOf(
      name,
      async () => [...(await serviceRunlevels(context)).keys()],
      (service) => runScript(service, 'status', context, { ignoreRetcode: true }),
    )
  },
)

/**
 * Let a service be started in the current runlevel, or in `runlevels` and no others; true if that succeeds.
 *
 * @example salt '*' service.enable sshd
 * @example salt '*' service.enable sshd runlevels='[boot, default]'
 */
export const enable = fn({ name, runlevels, kwargs }, async ({ name, runlevels }, context) => {
  if (runlevels === undefined) return succeeded(await changeRunlevels('add', name, [], context))
  const wanted = [...new Set([runlevels].flat())]
  const current = (await enabledServices(context)).get(name) ?? []
  const extra = current.filter((level) => !wanted.includes(level))
  const absent = wanted.filter((level) => !current.includes(level))
  if (extra.length > 0 && !succeeded(await changeRunlevels('delete', name, extra, context))) return false
  return absent.length === 0 || succeeded(await changeRunlevels('add', name, absent, context))
})

/**
 * Let a service not be started in the current runlevel, or in `runlevels`; true if that succeeds.
 *
 * @example salt '*' service.disable sshd
 * @example salt '*' service.disable sshd runlevels=boot
 */
export const disable = fn({ name, runlevels, kwargs }, async ({ name, runlevels }, context) => {
  if (runlevels === undefined) return succeeded(await changeRunlevels('delete', name, [], context))
  const current = (await enabledServices(context)).get(name) ?? []
  const levels = current.filter((level) => [runlevels].flat().includes(level))
  return levels.length === 0 || succeeded(await changeRunlevels('delete', name, levels, context))
})

/**
 * True if a runlevel starts a service, or all of `runlevels` do.
 *
 * @example salt '*' service.enabled sshd
 * @example salt '*' service.enabled sshd runlevels='[boot, default]'
 */
export const enabled = fn({ name, runlevels, kwargs }, async ({ name, runlevels = [] }, context) => {
  const levels = (await enabledServices(context)).get(name)
  return levels !== undefined && [runlevels].flat().every((level) => levels.includes(level))
})

/**
 * True if there is a service of this name that no runlevel starts.
 *
 * @example salt '*' service.disabled sshd
 */
export const disabled = fn({ name }, async ({ name }, context) =>
  (await disabledServices(context)).includes(name),
)

async function enabledServices(context: Context): Promise<Map<string, string[]>> {
  return new Map([...(await serviceRunlevels(context))].filter(([, levels]) => levels.length > 0))
}

async function disabledServices(context: Context): Promise<string[]> {
  const all = [...(await serviceRunlevels(context))]
  return all.flatMap(([service, levels]) => (levels.length === 0 ? [service] : [])).sort()
}

const isThere = async (name: string, context: Context): Promise<boolean> =>
  (await serviceRunlevels(context)).has(name)

const succeeded = ({ retcode }: { readonly retcode: number }): boolean => retcode === 0
