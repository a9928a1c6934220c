/** Read and set parameters of the kernel, now and for the next start. */
import { mkdir, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CommandExecutionError, type Context, fn, p, SaltInvocationError, type Virtual } from 'salt-ts'
import { which } from './_cmd/which.ts'
import { rewrite } from './_host/files.ts'
import { output, run } from './_host/programs.ts'
import { inTurn } from './_lock/in-turn.ts'

export const virtualName = 'sysctl'

export const virtual: Virtual = ({ grains }) =>
  grains.kernel === 'Linux' ||
  'The linux_sysctl execution module cannot be loaded: only available on Linux systems.'

const HEADER = '#\n# Kernel sysctl configuration\n#\n'
/** The first version of systemd that does not read /etc/sysctl.conf. */
const FIRST_WITH_FOLDER = 207

const name = p.string()
const value = p.union(p.string(), p.number())

/**
 * Return the path of the file that `persist` writes by default.
 *
 * @example salt '*' sysctl.default_config
 */
export const default_config = fn((_, context) => defaultConfig(context))

/**
 * Return all parameters of the kernel, or those of a configuration file.
 *
 * @example salt '*' sysctl.show
 * @example salt '*' sysctl.show config_file=/etc/sysctl.conf
 */
export const show = fn(
  { config_file: p.default(p.union(p.boolean(), p.string()), false) },
  async ({ config_file }, context) => {
    if (typeof config_file !== 'string' || config_file === '') return currentValues(context)
    const text = await readFile(config_file, 'utf8').catch((error: NodeJS.ErrnoException) => error)
    if (typeof text === 'string') return assignmentsIn(text)
    if (text.code === 'ENOENT') return []
    context.log.error('Could not open sysctl file')
    return null
  },
)

/**
 * Return the value of a parameter.
 *
 * @example salt '*' sysctl.get net.ipv4.ip_forward
 */
export const get = fn({ name }, ({ name }, context) => currentValue(name, context))

/**
 * Set a parameter until the next start.
 *
 * @example salt '*' sysctl.assign net.ipv4.ip_forward 1
 */
export const assign = fn({ name, value }, ({ name, value }, context) => assignValue(name, value, context))

/**
 * Set a parameter now and in a configuration file. Returns `Updated` or `Already set`.
 *
 * @example salt '*' sysctl.persist net.ipv4.ip_forward 1
 * @example salt '*' sysctl.persist vm.swappiness 10 config=/etc/sysctl.d/10-memory.conf
 */
export const persist = fn(
  { name, value, config: p.optional(p.string()) },
  async ({ name, value, config = '' }, context) => {
    const file = config || (await defaultConfig(context))
    const line = `${checkName(name)} = ${oneLine(value)}`
    const isSet = await inTurn(file, context, async () => {
      const lines = (await readConfig(file)).replace(/\n$/, '').split('\n')
      const at = lines.findIndex((line) => assignmentIn(line)?.[0] === name)
      const old = assignmentIn(lines[at] ?? '')?.[1]
      if (old !== undefined && sameValue(old, value)) {
        return sameValue(await currentValue(name, context), value)
      }
      const changed =
        at < 0 ? [...lines, line] : lines.map((one) => (assignmentIn(one)?.[0] === name ? line : one))
      await rewrite(file, `${changed.join('\n')}\n`)
      return false
    })
    if (isSet) return 'Already set'
    await assignValue(name, value, context)
    return 'Updated'
  },
)

async function defaultConfig({ grains }: Context): Promise<string> {
  const isBooted = (await stat('/run/systemd/system').catch(() => undefined)) !== undefined
  const { version } = (grains.systemd ?? {}) as { readonly version?: unknown }
  const hasFolder = isBooted && Number(version ?? FIRST_WITH_FOLDER) >= FIRST_WITH_FOLDER
  return hasFolder ? '/etc/sysctl.d/99-salt.conf' : '/etc/sysctl.conf'
}

async function sysctl(): Promise<string> {
  const path = await which('sysctl')
  if (path === null) throw new CommandExecutionError("Command 'sysctl' cannot be found")
  return path
}

async function currentValues(context: Context): Promise<Record<string, string>> {
  const { stdout } = await run([await sysctl(), '-a'], context)
  const pairs = stdout.split('\n').flatMap((line) => {
    const at = line.indexOf(' = ')
    return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 3)]]
  })
  return Object.fromEntries(pairs)
}

async function currentValue(name: string, context: Context): Promise<string> {
  return output([await sysctl(), '-n', '--', name], context)
}

async function assignValue(
  name: string,
  value: string | number,
  context: Context,
): Promise<Record<string, string>> {
  const path = `/proc/sys/${checkName(name).replace(/[./]/g, (char) => (char === '.' ? '/' : '.'))}`
  if ((await stat(path).catch(() => undefined)) === undefined) {
    throw new CommandExecutionError(`sysctl ${name} does not exist`)
  }
  const { stdout, stderr } = await run([await sysctl(), '-w', '--', `${name}=${value}`], context)
  const [, newValue] = /^\S+\s+=\s+(.*)$/s.exec(stdout) ?? []
  if (newValue === undefined || !sameValue(newValue, value) || stderr.includes('Invalid argument')) {
    throw new CommandExecutionError(`sysctl -w failed: ${stderr || stdout}`)
  }
  return { [name]: newValue }
}

async function readConfig(file: string): Promise<string> {
  const isFile = (await stat(file).catch(() => undefined))?.isFile()
  if (!isFile) {
    await mkdir(dirname(file), { recursive: true })
    return HEADER
  }
  return readFile(file, 'utf8').catch(() => {
    throw new CommandExecutionError(`Could not read from file: ${file}`)
  })
}

function assignmentIn(line: string): [name: string, value: string] | undefined {
  const at = line.indexOf('=')
  if (at < 0 || line.trimStart().startsWith('#')) return undefined
  return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
}

const assignmentsIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split('\n').flatMap((line) => [assignmentIn(line) ?? []].filter(({ length }) => length > 0)),
  )

/** A name with a line break or `=` would write other lines into the file. */
function checkName(name: string): string {
  if (/^\w[\w./*:@-]*$/.test(name)) return name
  throw new SaltInvocationError(`'${name}' is not the name of a parameter`)
}

/** A line break would begin another assignment in the file. */
function oneLine(value: string | number): string {
  const text = String(value)
  if (!/[\r\n]/.test(text)) return text
  throw new SaltInvocationError('The value of a parameter cannot contain a line break')
}

/** The kernel separates the numbers of a value by tabs, people by spaces. */
const sameValue = (one: string | number, other: string | number): boolean => {
  const words = (value: string | number) => String(value).trim().split(/\s+/).join(' ')
  return words(one) === words(other)
}
