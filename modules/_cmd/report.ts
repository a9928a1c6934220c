import type { Context, Log } from 'salt-ts'
import { parseEnv } from './env.ts'
import type { Options, ProcessResult } from './params.ts'
import type { ProcessPlan } from './process.ts'

const LEVELS: Readonly<Record<string, keyof Log>> = Object.assign(Object.create(null), {
  all: 'trace',
  garbage: 'trace',
  trace: 'trace',
  debug: 'debug',
  profile: 'debug',
  info: 'info',
  warning: 'warn',
  error: 'error',
  critical: 'error',
})
const SHOWN_CHARACTERS = 10_000

/** Log that a command starts: only its first word, since arguments, environment and input may be secret. */
export function logStart(plan: ProcessPlan, options: Options, { log }: Context): void {
  if (options.use_vt) log.warn('use_vt is not supported: the command runs without a virtual terminal')
  if (levelOf(options, log) === undefined) return
  const user = plan.identity.user ? `as user '${plan.identity.user.name}' ` : ''
  const group = options.group ? `in group '${options.group}' ` : ''
  const background = options.bg ? '. Executing command in the background, no output will be logged.' : ''
  log.info(`Executing command '${plan.label}' ${user}${group}in directory '${plan.cwd}'${background}`)
}

/**
 * Log the output of a command at `output_loglevel`, or as an error if it failed. Values of `env`, `stdin` and `password`
 * are masked.
 */
export function logEnd(plan: ProcessPlan, outcome: ProcessResult, options: Options, { log }: Context): void {
  const level = levelOf(options, log)
  if (level === undefined) return
  const failed = outcome.retcode !== 0 && !options.ignore_retcode
  if (failed) log.error(`Command '${plan.label}' failed with return code: ${outcome.retcode}`)
  const mask = masker(options)
  const at = failed ? 'error' : level
  if (outcome.stdout) log[at](`stdout: ${mask(outcome.stdout)}`)
  if (outcome.stderr) log[at](`stderr: ${mask(outcome.stderr)}`)
}

function levelOf(options: Options, log: Log): keyof Log | undefined {
  const name = options.output_loglevel.toLowerCase()
  if (name === 'quiet') return undefined
  if (LEVELS[name]) return LEVELS[name]
  const known = [...Object.keys(LEVELS), 'quiet'].join(', ')
  log.error(`Invalid output_loglevel '${name}'. Valid levels are: ${known}. Falling back to 'info'.`)
  return 'info'
}

function masker(options: Options): (text: string) => string {
  const secrets = secretsOf(options)
  const longest = Math.max(0, ...secrets.map((secret) => secret.length))
  return (text) => {
    const head = text.slice(0, SHOWN_CHARACTERS + longest)
    const masked = secrets.reduce((shown, secret) => shown.replaceAll(secret, '**********'), head)
    // The cut may have split a secret, which is then not masked: drop as many characters as the longest secret has.
    return head.length < text.length
      ? `${masked.slice(0, -longest || undefined)}… (${text.length} characters)`
      : masked
  }
}

function secretsOf({ env, stdin, password }: Options): string[] {
  const lines = String(stdin ?? '').split(/\\n|\n/)
  const given = [...Object.values(parseEnv(env)), ...lines, password ?? '']
  return [...new Set(given.map((text) => text.trim()))].filter(Boolean).sort((a, b) => b.length - a.length)
}
