/**
 * Manage services with systemd. Names without one of the suffixes of systemd are those of services: `ssh` is `ssh.service`.
 *
 * Functions that change a service start `systemctl` in a systemd scope of its own, so that it outlives a restart of the
 * minion; `systemd.scope: False` in the configuration prevents that. Where systemd is installed but does not run, as in a
 * container, functions that only change links of unit files work nevertheless.
 */
import { CommandExecutionError, type Context, fn, p, type Virtual } from 'salt-ts'
import { mapConcurrently } from '#internal'
import { runProgram } from './_program/run.ts'
import { stateOf } from './_service/status.ts'
import { isBooted, isOffline } from './_systemd/booted.ts'
import { isMasked, removeMasks, unmaskUnit } from './_systemd/masks.ts'
import { withoutScope } from './_systemd/scope.ts'
import { readProperties } from './_systemd/show.ts'
import { isAvailable, reloadIfChanged, reloadUnits } from './_systemd/status.ts'
import { systemctl } from './_systemd/systemctl.ts'
import { initScripts, initScriptsThatAre, switchInitScript } from './_systemd/sysv.ts'
import { hasInstanceLink, readRunning, unitFiles, unitFilesIn } from './_systemd/unit-files.ts'
import { unitName } from './_systemd/units.ts'

export const virtualName = 'service'
export const virtual: Virtual = async (facts) =>
  (facts.grains.kernel === 'Linux' && ((await isBooted(facts)) || (await isOffline(facts)))) ||
  'The systemd execution module failed to load: only available on Linux systems which have been booted with systemd.'

const name = p.string({ description: 'The name of a service, or of another unit with its suffix.' })
const root = p.optional(p.string({ description: 'Another root folder, whose unit files are meant.' }))
const flag = p.default(p.boolean(), false)
const masks = { unmask: flag, unmask_runtime: flag }
const noBlock = p.optional(
  p.boolean({ description: 'Do not wait for it. True by default for the service of the minion itself.' }),
)
const kwargs = p.keywords(p.any({ description: 'Ignored: what other providers of this name take.' }))

/**
 * Make systemd read its unit files again.
 *
 * @example salt '*' service.systemctl_reload
 */
export const systemctl_reload = fn((_, context) => reloadUnits(context))

/**
 * List the services and other units that run, sorted.
 *
 * @example salt '*' service.get_running
 */
export const get_running = fn(
  {},
  async (_, context) => {
    const words = ['--full', '--no-legend', '--no-pager']
    return readRunning((await systemctl(words, undefined, context, { ignoreRetcode: true })).stdout)
  },
  { returns: p.array(p.string()) },
)

/**
 * List the services and other units that are started at boot, sorted.
 *
 * @example salt '*' service.get_enabled
 */
export const get_enabled = fn(
  { root },
  async ({ root }, context) =>
    union(await unitFilesIn('enabled', root, context), await initScriptsThatAre(true, root, context)),
  { returns: p.array(p.string()) },
)

/**
 * List the services and other units that could be started at boot, and are not, sorted.
 *
 * @example salt '*' service.get_disabled
 */
export const get_disabled = fn(
  { root },
  async ({ root }, context) =>
    union(await unitFilesIn('disabled', root, context), await initScriptsThatAre(false, root, context)),
  { returns: p.array(p.string()) },
)

/**
 * List the services and other units that cannot be enabled, since their file says nothing about boot, sorted.
 *
 * @example salt '*' service.get_static
 */
export const get_static = fn(
  { root },
  async ({ root }, context) => union(await unitFilesIn('static', root, context)),
  { returns: p.array(p.string()) },
)

/**
 * List all services and other units that have a file, and the init scripts that have none, sorted.
 *
 * @example salt '*' service.get_all
 */
export const get_all = fn({ root }, ({ root }) => allServices(root), { returns: p.array(p.string()) })

/**
 * True if systemd knows a service. Instances of a template count.
 *
 * @example salt '*' service.available sshd
 */
export const available = fn({ name }, ({ name }, context) => isThere(name, context), {
  returns: p.boolean(),
})

/**
 * True if systemd does not know a service.
 *
 * @example salt '*' service.missing sshd
 */
export const missing = fn({ name }, async ({ name }, context) => !(await isThere(name, context)), {
  returns: p.boolean(),
})

/**
 * Remove the mask of a service, with `runtime` the one that ends at the next boot.
 *
 * @example salt '*' service.unmask foo
 * @example salt '*' service.unmask foo runtime=True
 */
export const unmask = fn({ name, runtime: flag, root }, ({ name, runtime, root }, context) =>
  unmaskUnit(name, runtime, root, context),
)

/**
 * Mask a service, so that nothing can start it, with `runtime` until the next boot.
 *
 * @example salt '*' service.mask foo
 * @example salt '*' service.mask foo runtime=True
 */
export const mask = fn({ name, runtime: flag, root }, async ({ name, runtime, root }, context) => {
  await reloadIfChanged(name, context, root)
  const words = ['mask', ...(runtime ? ['--runtime'] : [])]
  const { retcode, stdout } = await systemctl(words, name, context, { root, scoped: true, merged: true })
  if (retcode !== 0) {
    const reason = stdout && `. Additional info follows:\n\n${stdout}`
    throw new CommandExecutionError(`Failed to mask service '${name}'${reason}`)
  }
  return true
})

/**
 * True if a service is masked, with `runtime` until the next boot.
 *
 * @example salt '*' service.masked foo
 * @example salt '*' service.masked foo runtime=True
 */
export const masked = fn({ name, runtime: flag, root }, async ({ name, runtime, root }, context) => {
  await reloadIfChanged(name, context, root)
  return isMasked(name, runtime, root)
})

/**
 * Start a service. `unmask` and `unmask_runtime` remove its masks before; with `no_block` it is not waited for.
 *
 * @example salt '*' service.start sshd
 * @example salt '*' service.start sshd unmask=True
 */
export const start = fn({ name, no_block: flag, ...masks }, (given, context) =>
  change('start', given, context),
)

/**
 * Stop a service; false if that fails.
 *
 * @example salt '*' service.stop sshd
 */
export const stop = fn({ name, no_block: noBlock }, async ({ name, no_block }, context) => {
  await reloadIfChanged(name, context)
  const how = { scoped: true, noBlock: no_block ?? isMinion(name) }
  return (await systemctl(['stop'], name, context, how)).retcode === 0
})

/**
 * Stop and start a service. `unmask` and `unmask_runtime` remove its masks before; with `no_block` it is not waited for.
 *
 * @example salt '*' service.restart sshd
 */
export const restart = fn({ name, no_block: noBlock, ...masks }, (given, context) =>
  change('restart', { ...given, no_block: given.no_block ?? isMinion(given.name) }, context),
)

/**
 * Let a service read its configuration again.
 *
 * @example salt '*' service.reload sshd
 */
export const reload = fn({ name, no_block: flag, ...masks }, (given, context) =>
  change('reload', given, context),
)

/**
 * Let a service read its configuration again, or restart it if it cannot do that.
 *
 * @example salt '*' service.force_reload sshd
 */
export const force_reload = fn({ name, no_block: p.default(p.boolean(), true), ...masks }, (given, context) =>
  change('force-reload', given, context),
)

/**
 * True if a service runs. For a shell pattern, a map of all services that match it. `sig` is ignored.
 *
 * @example salt '*' service.status sshd
 * @example salt '*' service.status 'ssh*'
 */
export const status = fn({ name, sig: p.optional(p.string()) }, ({ name }, context) =>
  stateOf(
    name,
    () => allServices(),
    async (service) => {
      await reloadIfChanged(service, context)
      return (await systemctl(['is-active'], service, context, { ignoreRetcode: true })).retcode === 0
    },
  ),
)

/**
 * Let a service be started at boot. `unmask` and `unmask_runtime` remove its masks before.
 *
 * @example salt '*' service.enable sshd
 */
export const enable = fn(
  { name, no_block: flag, ...masks, root, kwargs },
  async ({ name, no_block, root, ...masks }, context) => {
    await reloadIfChanged(name, context, root)
    await removeMasks(name, masks, context, root)
    if (await isInitScript(name, root)) return switchInitScript(name, true, root, context)
    const how = { root, scoped: true, noBlock: no_block, ignoreRetcode: true }
    const { retcode, stderr } = await systemctl(['enable'], name, context, how)
    if (retcode !== 0) throw new CommandExecutionError(withoutScope(stderr))
    return true
  },
)

/**
 * Let a service not be started at boot; false if that fails.
 *
 * @example salt '*' service.disable sshd
 */
export const disable = fn(
  { name, no_block: flag, root, kwargs },
  async ({ name, no_block, root }, context) => {
    await reloadIfChanged(name, context, root)
    if (await isInitScript(name, root)) return switchInitScript(name, false, root, context)
    const how = { root, scoped: true, noBlock: no_block, ignoreRetcode: true }
    return (await systemctl(['disable'], name, context, how)).retcode === 0
  },
)

/**
 * True if a service is started at boot.
 *
 * @example salt '*' service.enabled sshd
 */
export const enabled = fn({ name, root, kwargs }, ({ name, root }, context) =>
  startsAtBoot(name, root, context),
)

/**
 * True if a service is not started at boot.
 *
 * @example salt '*' service.disabled sshd
 */
export const disabled = fn(
  { name, root },
  async ({ name, root }, context) => !(await startsAtBoot(name, root, context)),
)

/**
 * Return the properties of a service. `Before`, `After` and `Wants` are lists; commands are maps.
 *
 * @example salt '*' service.show sshd
 */
export const show = fn({ name, root }, async ({ name, root }, context) => {
  const { retcode, stdout, stderr } = await systemctl(['show'], name, context, { root })
  if (retcode !== 0) throw new CommandExecutionError(stderr || `Failed to show the properties of '${name}'`)
  return readProperties(stdout)
})

/**
 * Return the program that each service starts, by the name of the service.
 *
 * @example salt '*' service.execs
 */
export const execs = fn({ root }, async ({ root }, context) => {
  const names = await allServices(root)
  const found = await mapConcurrently(names, async (name) => {
    const how = { root, ignoreRetcode: true }
    const { retcode, stdout } = await systemctl(['show', '--property=ExecStart'], name, context, how)
    const { ExecStart } = retcode === 0 ? readProperties(stdout) : {}
    return typeof ExecStart === 'object' && 'path' in ExecStart ? [[name, ExecStart.path] as const] : []
  })
  return Object.fromEntries(found.flat())
})

/**
 * Set what systemd asks at the first boot: locale, keys, time zone, name and id of the host, with `root` those of another
 * root folder. What is set already stays.
 *
 * @example salt '*' service.firstboot keymap=jp locale=en_US.UTF-8
 */
export const firstboot = fn(
  {
    locale: p.optional(p.string()),
    locale_message: p.optional(p.string()),
    keymap: p.optional(p.string()),
    timezone: p.optional(p.string()),
    hostname: p.optional(p.string()),
    machine_id: p.optional(p.string()),
    root,
  },
  async (given, context) => {
    const options = Object.entries(given).flatMap(([option, value]) =>
      value ? [`--${option.replace('locale_message', 'locale-messages').replace('_', '-')}=${value}`] : [],
    )
    const { retcode, stderr } = await runProgram(['systemd-firstboot', ...options], context)
    if (retcode !== 0) throw new CommandExecutionError(`systemd-firstboot error: ${stderr}`)
    return true
  },
)

/**
 * True if systemd is installed but does not run, so that only unit files can be changed.
 *
 * @example salt '*' service.offline
 */
export const offline = fn({}, (_, context) => isOffline(context), { returns: p.boolean() })

interface Change {
  readonly name: string
  readonly no_block: boolean
  readonly unmask: boolean
  readonly unmask_runtime: boolean
}

async function change(verb: string, { name, no_block, ...masks }: Change, context: Context): Promise<true> {
  await reloadIfChanged(name, context)
  await removeMasks(name, masks, context)
  const how = { scoped: true, noBlock: no_block }
  const { retcode, stderr } = await systemctl([verb], name, context, how)
  if (retcode !== 0) throw new CommandExecutionError(withoutScope(stderr))
  return true
}

async function isThere(name: string, context: Context): Promise<boolean> {
  await reloadIfChanged(name, context)
  return isAvailable(name, context)
}

async function startsAtBoot(name: string, root: string | undefined, context: Context): Promise<boolean> {
  const { retcode } = await systemctl(['is-enabled'], name, context, { root, ignoreRetcode: true })
  if (retcode === 0) return true
  if (name.includes('@')) return hasInstanceLink(unitName(name), root)
  return (await initScriptsThatAre(true, root, context)).includes(name)
}

async function allServices(root?: string): Promise<string[]> {
  const units = await unitFiles(root)
  return union([...units], await initScripts(root, units))
}

const isInitScript = async (name: string, root: string | undefined): Promise<boolean> =>
  (await initScripts(root)).includes(name)

// A minion that waits for its own end would be killed before it has answered.
const isMinion = (name: string): boolean => unitName(name) === 'salt-minion.service'

const union = (...lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())].sort()
