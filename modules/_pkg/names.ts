import { SaltInvocationError } from 'salt-ts'

/**
 * Refuse a name of a package, or a pattern of names, that would be an option of the program, or several words of its input.
 * @throws SaltInvocationError
 */
export function packageName(name: string): string {
  if (!/^-|\s/.test(name)) return name
  throw new SaltInvocationError(
    `${JSON.stringify(name)} is not the name of a package: it would be an option, or several words`,
  )
}

/**
 * Return the names, groups or paths that a user gave, unless one of them would be read as an option by a package manager, or
 * contains a line break. @throws SaltInvocationError
 */
export function plainNames<T extends readonly string[]>(names: T): T {
  for (const name of names) {
    if (name.startsWith('-'))
      throw new SaltInvocationError(
        `'${name}' begins with '-', so the package manager would take it for an option; give the name of a package or a path`,
      )
    if (/[\0\n\r]/.test(name))
      throw new SaltInvocationError(
        `${JSON.stringify(name)} contains a line break or a zero byte; give the name of a package or a path`,
      )
  }
  return names
}

/** Split a list, or text with commas, into its items. Nothing gives an empty list. */
export function listed(given: unknown): string[] {
  if (given === undefined || given === null || given === '') return []
  return [given].flat().flatMap((item) =>
    Array.isArray(given)
      ? [String(item)]
      : String(item)
          .split(',')
          .map((one) => one.trim())
          .filter(Boolean),
  )
}
