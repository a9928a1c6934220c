/**
 * Manage services by their init scripts, with chkconfig, on Red Hat's systems and those like them that do not run systemd.
 *
 * Nothing is an Upstart job here: `limit=upstart` finds no services.
 */
import { type Context, fn, p, type Virtual } from 'salt-ts'
import {
  isManaged,
  isStarted,
  managedServices,
  removeService,
  runlevel,
  switchService,
} from './_service/chkconfig.ts'
import { scriptName } from './_service/names.ts'
import { pidsLike, stateOf } from './_service/status.ts'
import { isScript, runService } from './_service/sysv.ts'
import { isBooted } from './_systemd/booted.ts'

/** Distributions, with the first major version that always runs systemd. */
const SYSTEMS = new Map([
  ...['Amazon', 'ALT', 'SUSE  Enterprise Server', 'McAfee  OS Server', 'VirtuozzoLinux'].map(
    (os) => [os, Number.POSITIVE_INFINITY] as const,
  ),
  ...['RedHat', 'CentOS', 'ScientificLinux', 'OEL', 'CloudLinux', 'XenServer', 'XCP-ng'].map(
    (os) => [os, 7] as const,
  ),
  ['Fedora', 15],
  ['SUSE', 12],
])

export const virtualName = 'service'
export const virtual: Virtual = async (facts) => {
  if (await isBooted(facts))
    return 'The rh_service execution module failed to load: this system was booted with systemd.'
  const { os, osmajorrelease } = facts.grains
  const systemdSince = SYSTEMS.get(String(os))
  if (systemdSince === undefined)
    return `Cannot load rh_service module: OS not in ${[...SYSTEMS.keys()].join(', ')}`
  return (
    Number(osmajorrelease ?? 0) < systemdSince ||
    `${os} >= ${systemdSince} uses systemd, will not load rh_service as virtual 'service'`
  )
}

const name = p.string({ description: 'The name of a service, which is that of its script.' })
const limit = p.default(
  p.string({ description: 'Only services of this type: `sysvinit`, or `upstart`, of which there are none.' }),
  '',
)
const kwargs = p.keywords(p.any({ description: 'Ignored: what other providers of this name take.' }))

/**
 * List the services that are started at boot, sorted.
 *
 * @example salt '*' service.get_enabled
 * @example salt '*' service.get_enabled limit=sysvinit
 */
export const get_enabled = fn({ limit }, ({ limit }, context) => servicesThatAre(true, limit, context))

/**
 * List the services that are not started at boot, sorted.
 *
 * @example salt '*' service.get_disabled
 */
export const get_disabled = fn({ limit }, ({ limit }, context) => servicesThatAre(false, limit, context))

/**
 * List all services, sorted.
 *
 * @example salt '*' service.get_all
 */
export const get_all = fn({ limit }, ({ limit }, context) => allServices(limit, context))

/**
 * True if there is a service of this name.
 *
 * @example salt '*' service.available sshd
 */
export const available = fn({ name, limit }, async ({ name, limit }, context) => {
  if (limit === 'upstart') return false
  if (await isScript(scriptName(name))) return true
  return limit !== 'sysvinit' && isManaged(name, context)
})

/**
 * True if there is no script of this name.
 *
 * @example salt '*' service.missing sshd
 */
export const missing = fn(
  { name, limit },
  async ({ name, limit }) => limit === 'upstart' || !(await isScript(scriptName(name))),
)

/**
 * Start a service; true if that succeeds.
 *
 * @example salt '*' service.start sshd
 */
export const start = fn({ name }, ({ name }, context) => runService(name, 'start', context))

/**
 * Stop a service; true if that succeeds.
 *
 * @example salt '*' service.stop sshd
 */
export const stop = fn({ name }, ({ name }, context) => runService(name, 'stop', context))

/**
 * Stop and start a service; true if that succeeds.
 *
 * @example salt '*' service.restart sshd
 */
export const restart = fn({ name }, ({ name }, context) => runService(name, 'restart', context))

/**
 * Let a service read its configuration again; true if that succeeds.
 *
 * @example salt '*' service.reload sshd
 */
export const reload = fn({ name }, ({ name }, context) => runService(name, 'reload', context))

/**
 * True if a service runs, by what its script says, or with `sig` if a line of `ps` matches it. For a shell pattern, a map of
 * all services that match it.
 *
 * @example salt '*' service.status sshd
 */
export const status = fn(
  { name, sig: p.optional(p.string()) },
  async ({ name, sig }, context): Promise<boolean | Record<string, boolean>> => {
    if (sig) return (await pidsLike(sig, context)) !== ''
    return stateOf(
      name,
      () => managedServices(context),
      (service) => runService(service, 'status', context, { ignoreRetcode: true }),
    )
  },
)

const remove = fn({ name, kwargs }, ({ name }, context) => removeService(name, context))

/**
 * Remove a service from those that chkconfig knows; true if that succeeds. Its script stays.
 *
 * @example salt '*' service.delete sshd
 */
export { remove as delete }

/**
 * Let a service be started at boot, in the runlevels that its script names; true if that succeeds.
 *
 * @example salt '*' service.enable sshd
 */
export const enable = fn({ name, kwargs }, ({ name }, context) => switchService(name, 'on', context))

/**
 * Let a service not be started at boot; true if that succeeds.
 *
 * @example salt '*' service.disable sshd
 */
export const disable = fn({ name, kwargs }, ({ name }, context) => switchService(name, 'off', context))

/**
 * True if a service is started at boot, in the current runlevel.
 *
 * @example salt '*' service.enabled sshd
 */
export const enabled = fn({ name, kwargs }, async ({ name }, context) =>
  isStarted(name, await runlevel(context), context),
)

/**
 * True if a service is not started at boot, in the current runlevel.
 *
 * @example salt '*' service.disabled sshd
 */
export const disabled = fn(
  { name },
  async ({ name }, context) => !(await isStarted(name, await runlevel(context), context)),
)

const allServices = async (limit: string, context: Context): Promise<string[]> =>
  limit.toLowerCase() === 'upstart' ? [] : managedServices(context)

async function servicesThatAre(enabled: boolean, limit: string, context: Context): Promise<string[]> {
  const level = await runlevel(context)
  const found: string[] = []
  for (const name of await allServices(limit, context)) {
    if ((await isStarted(name, level, context)) === enabled) found.push(name)
  }
  return found
}
