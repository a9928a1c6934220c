import { type Context, jsonText, type Log, SaltInvocationError } from 'salt-ts'
import { floatText } from '#internal'
import { jobEnvironment } from '../_environ/job-environment.ts'
import type { Options } from './params.ts'

export type Env = Record<string, string>

const LOCALE = [
  'LC_CTYPE LC_NUMERIC LC_TIME LC_COLLATE LC_MONETARY LC_MESSAGES LC_PAPER',
  'LC_NAME LC_ADDRESS LC_TELEPHONE LC_MEASUREMENT LC_IDENTIFICATION LANGUAGE',
].flatMap((names) => names.split(' '))

/**
 * Build the environment of a command. Later sources override earlier ones: the job's environment (unless
 * `clean_env`), the C locale (with `reset_system_locale`), the user's login environment, `env`. `USER` and `HOME` are
 * always those of the login.
 */
export function buildEnv(options: Options, login: Env, context: Context): Env {
  const given = parseEnv(options.env, context.log)
  const locale = options.reset_system_locale ? Object.fromEntries(LOCALE.map((name) => [name, 'C'])) : {}
  const own = options.clean_env ? {} : withoutNotifySocket(jobEnvironment(context))
  const env: Env = { ...own, ...given, ...locale, ...login, ...given } // twice: `given` comes first in what `env` shows, and wins
  for (const name of ['USER', 'HOME']) if (login[name] !== undefined) env[name] = login[name]
  if (options.prepend_path) env.PATH = [options.prepend_path, env.PATH].filter(Boolean).join(':')
  return env
}

/**
 * Parse `env`, which users write as a map, a list of maps and of names without a value, or text with one `NAME=value`
 * per line.
 */
export function parseEnv(given: unknown, log?: Log): Env {
  const env: Env = Object.create(null)
  for (const [name, value] of entriesOf(given)) {
    if (name === '' || /[=\0]/.test(name)) {
      throw new SaltInvocationError('A name in env is empty, or contains "=" or a null byte')
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
  if (Array.isArray(given)) return given.flatMap(entryOf)
  if (given instanceof Map) return [...given].map(([name, value]) => [String(name), value])
  if (typeof given === 'object') return Object.entries(given)
  throw new SaltInvocationError('env must be a map, a list of maps, or text with one NAME=value per line')
}

const entryOf = (item: unknown): [string, unknown][] =>
  typeof item === 'string' && !item.includes('=') ? [[item, undefined]] : entriesOf(item)

function assignment(line: string): [string, string] {
  const at = line.indexOf('=')
  if (at < 1) throw new SaltInvocationError('env given as text must have one NAME=value per line')
  return [line.slice(0, at).trim(), line.slice(at + 1)]
}

/** Format a value as Python prints it, since existing scripts expect that. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (value instanceof Number) return floatText(value.valueOf())
  return typeof value === 'object' ? jsonText(value) : String(value)
}

/** Leave out systemd's readiness socket, which belongs to the minion, not to the programs it starts. */
export function withoutNotifySocket(env: NodeJS.ProcessEnv): Env {
  const { NOTIFY_SOCKET: _, ...rest } = env
  return rest as Env
}
