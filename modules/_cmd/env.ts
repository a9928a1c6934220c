import { floatText, jsonText, type Log, SaltInvocationError } from 'salt-ts'
import type { Options } from './params.ts'

export type Env = Record<string, string>

const LOCALE = [
  'LC_CTYPE LC_NUMERIC LC_TIME LC_COLLATE LC_MONETARY LC_MESSAGES LC_PAPER',
  'LC_NAME LC_ADDRESS LC_TELEPHONE LC_MEASUREMENT LC_IDENTIFICATION LANGUAGE',
].flatMap((names) => names.split(' '))

/** The environment a command starts with: the minion's own, the user's login, the C locale, and what was asked for. */
export function buildEnv(options: Options, login: Env, log: Log): Env {
  const asked = parseEnv(options.env, log)
  const locale = options.reset_system_locale ? Object.fromEntries(LOCALE.map((name) => [name, 'C'])) : {}
  const own = options.clean_env ? {} : withoutNotifySocket(process.env)
  const env: Env = { ...own, ...locale, ...login, ...asked }
  for (const name of ['USER', 'HOME']) if (login[name] !== undefined) env[name] = login[name]
  if (options.prepend_path) env.PATH = [options.prepend_path, env.PATH].filter(Boolean).join(':')
  return env
}

/** `env` as users write it: a map, a list of maps, or text with a `NAME=value` a line. */
export function parseEnv(given: unknown, log?: Log): Env {
  const env: Env = Object.create(null)
  for (const [name, value] of entriesOf(given)) {
    if (name === '' || /[=\0]/.test(name)) {
      throw new SaltInvocationError('A name in env is empty or contains "=", which no environment can hold')
    }
    if (value === null || value === undefined) {
      log?.error(`Environment variable '${name}' passed without a value. Setting value to an empty string`)
    }
    env[name] = textOf(value)
  }
  return env
}

function entriesOf(given: unknown): [string, unknown][] {
  if (given === undefined || given === null || given === '') return []
  if (typeof given === 'string') return given.split('\n').filter(Boolean).map(assignment)
  if (Array.isArray(given)) return given.flatMap(entriesOf)
  if (given instanceof Map) return [...given].map(([name, value]) => [String(name), value])
  if (typeof given === 'object') return Object.entries(given)
  throw new SaltInvocationError('env must be a map, a list of maps, or text with a NAME=value a line')
}

function assignment(line: string): [string, string] {
  const at = line.indexOf('=')
  if (at < 1) throw new SaltInvocationError('env given as text must have a NAME=value on each line')
  return [line.slice(0, at).trim(), line.slice(at + 1)]
}

/** As Python prints it, since scripts were written against that. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (value instanceof Number) return floatText(value.valueOf())
  return typeof value === 'object' ? jsonText(value) : String(value)
}

// systemd's readiness socket belongs to the minion, not to what it starts.
function withoutNotifySocket(env: NodeJS.ProcessEnv): Env {
  const { NOTIFY_SOCKET: _, ...rest } = env
  return rest as Env
}
