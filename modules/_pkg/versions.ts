import { fnmatch } from '#internal'

/** Return the value of a single name, or all values by name. */
export function oneOrAll<T>(
  values: Readonly<Record<string, T>>,
  names: readonly string[],
): T | Record<string, T> {
  return names.length === 1 ? values[names[0]!]! : { ...values }
}

/** Return the installed version of a name, or a map for several names or a glob (Salt's `pkg.version`). */
export function chosenVersions(
  names: readonly string[],
  installed: Readonly<Record<string, readonly string[]>>,
  asList: boolean,
): unknown {
  const globs = names.some((name) => name.includes('*'))
  const chosen = names.flatMap((name) =>
    name.includes('*') ? Object.keys(installed).filter((known) => fnmatch(known, name)) : [name],
  )
  const shown = (name: string) => (asList ? (installed[name] ?? []) : (installed[name] ?? []).join(','))
  const versions = Object.fromEntries(chosen.map((name) => [name, shown(name)]))
  return Object.keys(versions).length === 1 && !globs ? Object.values(versions)[0] : versions
}
