/** Manage services by their init scripts, on Debian and systems made from it that do not run systemd. */
import { type Context, fn, p, type Virtual } from 'salt-ts'
import { which } from './_cmd/which.ts'
import { runProgram } from './_program/run.ts'
import { scriptName } from './_service/names.ts'
import { pidsLike, stateOf } from './_service/status.ts'
import { currentRunlevel, initFiles, runService, startedAt } from './_service/sysv.ts'
import { isBooted } from './_systemd/booted.ts'

const DEBIANS = ['Debian', 'Raspbian', 'Devuan', 'NILinuxRT']
/** Salt has a provider for Upstart here, which manages init scripts in the same way. */
const UBUNTUS = ['Ubuntu', 'Linaro', 'elementary OS', 'Mint']

export const virtualName = 'service'
export const virtual: Virtual = async (facts) =>
  ([...DEBIANS, ...UBUNTUS].includes(String(facts.grains.os)) && !(await isBooted(facts))) ||
  'The debian_service module could not be loaded: unsupported OS family and/or systemd running.'

const name = p.string({ description: 'The name of a service, which is that of its script.' })
const kwargs = p.keywords(p.any({ description: 'Ignored: what other providers of this name take.' }))

/**
 * List the services that are started at boot, sorted.
 *
 * @example salt '*' service.get_enabled
 */
export const get_enabled = fn({}, (_, context) => enabledServices(context), { returns: p.array(p.string()) })

/**
 * List the services that are not started at boot, sorted.
 *
 * @example salt '*' service.get_disabled
 */
export const get_disabled = fn({}, (_, context) => disabledServices(context), {
  returns: p.array(p.string()),
})

/**
 * True if there is a service of this name.
 *
 * @example salt '*' service.available sshd
 */
export const available = fn({ name }, async ({ name }, context) =>
  (await allServices(context)).includes(name),
)

/**
 * True if there is no service of this name.
 *
 * @example salt '*' service.missing sshd
 */
export const missing = fn({ name }, async ({ name }, context) => !(await allServices(context)).includes(name))

/**
 * List all services, sorted.
 *
 * @example salt '*' service.get_all
 */
export const get_all = fn({}, (_, context) => allServices(context), { returns: p.array(p.string()) })

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
 * Let a service read its configuration again, or restart it if it cannot do that; true if that succeeds.
 *
 * @example salt '*' service.force_reload sshd
 */
export const force_reload = fn({ name }, ({ name }, context) => runService(name, 'force-reload', context))

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
      () => allServices(context),
      (service) => runService(service, 'status', context, { ignoreRetcode: true }),
    )
  },
)

/**
 * Let a service be started at boot; true if that succeeds.
 *
 * @example salt '*' service.enable sshd
 */
export const enable = fn({ name, kwargs }, async ({ name }, context) => {
  const script = scriptName(name)
  const hasInsserv = (await which('insserv')) !== null
  const first: Words = hasInsserv ? ['insserv', script] : ['update-rc.d', script, 'defaults']
  return (await succeeds(first, context)) && succeeds(['update-rc.d', script, 'enable'], context)
})

/**
 * Let a service not be started at boot; true if that succeeds.
 *
 * @example salt '*' service.disable sshd
 */
export const disable = fn({ name, kwargs }, ({ name }, context) =>
  succeeds(['update-rc.d', scriptName(name), 'disable'], context),
)

/**
 * True if a service is started at boot.
 *
 * @example salt '*' service.enabled sshd
 */
export const enabled = fn({ name, kwargs }, async ({ name }, context) =>
  (await enabledServices(context)).includes(name),
)

/**
 * True if there is a service of this name that is not started at boot.
 *
 * @example salt '*' service.disabled sshd
 */
export const disabled = fn({ name }, async ({ name }, context) =>
  (await disabledServices(context)).includes(name),
)

async function enabledServices(context: Context): Promise<string[]> {
  const levels = ['S', await currentRunlevel('2', context)]
  const started = await Promise.all(levels.map((level) => startedAt(level)))
  return [...new Set(started.flat())].sort()
}

async function allServices(context: Context): Promise<string[]> {
  const scripts = (await initFiles()).filter((file) => file !== 'README')
  return [...new Set([...scripts, ...(await enabledServices(context))])].sort()
}

async function disabledServices(context: Context): Promise<string[]> {
  const enabled = new Set(await enabledServices(context))
  return (await allServices(context)).filter((service) => !enabled.has(service))
}

type Words = [string, ...string[]]

async function succeeds(words: Words, context: Context): Promise<boolean> {
  return (await runProgram(words, context)).retcode === 0
}
