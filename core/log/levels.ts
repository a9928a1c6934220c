/** Salt's levels with their numbers in Python's logging. */
const numbers = {
  all: 0,
  garbage: 1,
  trace: 5,
  debug: 10,
  profile: 15,
  info: 20,
  warning: 30,
  error: 40,
  critical: 50,
  quiet: 1000,
} as const

/** A configured level. Records have any of them but `all` and `quiet`. */
type Level = keyof typeof numbers
export type RecordLevel = Exclude<Level, 'all' | 'quiet'>

export const recordLevels: Readonly<Record<RecordLevel, number>> = (({ all, quiet, ...rest }) => rest)(
  numbers,
)

/** Return the number of a configured level; Salt's default for an unknown one. */
export function levelNumber(level: string): number {
  return Object.hasOwn(numbers, level) ? numbers[level as Level] : numbers.warning
}

/** Compile levels by component, with or without `salt.`. The longest name that is a component or its parent applies. */
export function granularLevels(
  levels: Readonly<Record<string, unknown>>,
): (name: string) => number | undefined {
  const known = new Map(
    Object.entries(levels).map(([key, level]) => [
      key.replace(/^salt\.?/, ''),
      levelNumber(String(level).toLowerCase()),
    ]),
  )
  if (known.size === 0) return () => undefined
  return (full) => {
    const name = full.replace(/^salt\.?/, '')
    for (let prefix = name; prefix !== ''; prefix = prefix.slice(0, Math.max(0, prefix.lastIndexOf('.')))) {
      const level = known.get(prefix)
      if (level !== undefined) return level
    }
    return known.get('')
  }
}
