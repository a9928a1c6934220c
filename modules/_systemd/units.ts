import { SaltInvocationError } from 'salt-ts'

/** Types of the units that Salt lists as services. */
const LISTED = ['service', 'socket', 'device', 'mount', 'automount', 'swap', 'target', 'path', 'timer']
const TYPES = [...LISTED, 'slice', 'scope']

/**
 * Return the full name of a unit: `ssh` is `ssh.service`. systemctl would take a name with a slash as a file, and link it as
 * a unit, so it is refused.
 * @throws SaltInvocationError if it cannot be a name
 */
export function unitName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (name === '' || /[/\s\u0000-\u001f\u007f]/.test(name)) {
    throw new SaltInvocationError(
      `${JSON.stringify(name)} is not the name of a unit: it must not be empty, nor contain a slash or white space`,
    )
  }
  return TYPES.some((type) => name.endsWith(`.${type}`)) ? name : `${name}.service`
}

/** Return the name under which a unit is listed, a service without its suffix; undefined for types that are not listed. */
export function listedName(unit: string): string | undefined {
  const dot = unit.lastIndexOf('.')
  const type = unit.slice(dot + 1)
  if (dot < 0 || !LISTED.includes(type)) return undefined
  return type === 'service' ? unit.slice(0, dot) : unit
}
