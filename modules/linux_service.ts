/** Manage services by their init scripts, on Linux distributions that no other provider of this name knows. */
import { join } from 'node:path'
import { type Context, fn, p, type Virtual } from 'salt-ts'
import { runProgram } from './_program/run.ts'
import { scriptName } from './_service/names.ts'
import { pidsLike, stateOf } from './_service/status.ts'
import { namesIn } from './_service/sysv.ts'
import { isBooted } from './_systemd/booted.ts'

/** Distributions with a provider of their own, or with none since they always run systemd. */
const OTHERS = [
  ...['RedHat', 'CentOS', 'Amazon', 'ScientificLinux', 'CloudLinux', 'Fedora', 'ALT', 'OEL', 'SUSE'],
  ...['Ubuntu', 'Debian', 'Devuan', 'Raspbian', 'Linaro', 'elementary OS'],
  ...['McAfee  OS Server', 'Gentoo', 'Alpine', 'Slackware'],
]

export const virtualName = 'service'
export const virtual: Virtual = async (facts) => {
  const { os, kernel, init } = facts.grains
  if (OTHERS.includes(String(os))) return 'Your OS is on the disabled list'
  if (kernel !== 'Linux') return 'Non Linux OSes are not supported'
  if (![undefined, null, 'sysvinit', 'unknown'].includes(init as string)) return `Minion is running ${init}`
  return !(await isBooted(facts)) || 'Minion is running systemd'
}

const name = p.string({ description: 'The name of a service, which is that of its script.' })

/**
 * Run the script of a service with an action; true if it succeeds.
 *
 * @example salt '*' service.run apache2 reload
 * @example salt '*' service.run postgresql initdb
 */
export const run = fn({ name, action: p.string() }, ({ name, action }, context) =>
  runScript(name, action, context),
)

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
 * Return the pids of a service, one a line; an empty text if it does not run. They are those of processes whose line in `ps`
 * matches `sig`, or the name. For a shell pattern, a map of all services that match it.
 *
 * @example salt '*' service.status sshd
 * @example salt '*' service.status sshd sig='sshd: /usr/sbin/sshd'
 */
export const status = fn({ name, sig: p.optional(p.string()) }, ({ name, sig }, context) =>
  sig
    ? pidsLike(sig, context)
    : stateOf(
        name,
        () => scripts(context),
        (service) => pidsLike(service, context),
      ),
)

/**
 * True if there is a service of this name.
 *
 * @example salt '*' service.available sshd
 */
export const available = fn({ name }, async ({ name }, context) => (await scripts(context)).includes(name))

/**
 * True if there is no service of this name.
 *
 * @example salt '*' service.missing sshd
 */
export const missing = fn({ name }, async ({ name }, context) => !(await scripts(context)).includes(name))

/**
 * List all services, sorted.
 *
 * @example salt '*' service.get_all
 */
export const get_all = fn({}, (_, context) => scripts(context), { returns: p.array(p.string()) })

const folderOf = ({ grains }: Context): string =>
  ['Arch', 'Arch ARM'].includes(String(grains.os)) ? '/etc/rc.d' : '/etc/init.d'

const scripts = (context: Context): Promise<string[]> => namesIn(folderOf(context))

async function runScript(name: string, action: string, context: Context): Promise<boolean> {
  const script = join(folderOf(context), scriptName(name))
  const words = action.split(/\s+/).filter(Boolean)
  return (await runProgram([script, ...words], context)).retcode === 0
}
