import type { Env } from './env.ts'

/** Variables that bash does not let anybody set. */
const READONLY = ['BASHOPTS', 'BASH_VERSINFO', 'EUID', 'PPID', 'SHELLOPTS', 'UID']
const PREFIX = 'SALT_ENV_'

interface Veiled {
  readonly env: Env
  /** A line of shell that sets the variables under their own names. */
  readonly unveil: string
}

/**
 * Give the variables of a command other names, under which they mean nothing to the program that changes the user. That one
 * still runs as root, and what users write into their profiles, such as `LD_PRELOAD`, would run as root with it.
 */
export function veiled(given: Readonly<Env>): Veiled {
  const isSettable = (name: string) => /^[A-Za-z_]\w*$/.test(name) && !READONLY.includes(name)
  const entries = Object.entries(given)
  const hidden = entries.filter(([name]) => isSettable(name))
  const names = hidden.map((_, at) => `${PREFIX}${at}`)
  const env = Object.fromEntries([
    ...entries.filter(([name]) => !isSettable(name)),
    ...hidden.map(([name, value], at) => [names[at], `${name}=${value}`]),
  ])
  const unveil = `export ${names.map((name) => `"$${name}"`).join(' ')}; unset ${names.join(' ')}`
  return { env, unveil: names.length > 0 ? unveil : '' }
}
