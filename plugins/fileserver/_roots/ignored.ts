import { fnmatch, pythonRegExp } from '#internal'

/** Whether a path is not to be served. */
export type Ignored = (path: string) => boolean

/** Compile `file_ignore_glob` and `file_ignore_regex`. Throws a SaltError for an invalid expression. */
export function openIgnored(opts: Readonly<Record<string, unknown>>): Ignored {
  const globs = texts(opts.file_ignore_glob)
  const expressions = texts(opts.file_ignore_regex).map((pattern) => {
    pythonRegExp(pattern) // throws with the pattern as the user wrote it
    return pythonRegExp(anywhere(pattern))
  })
  return (path) =>
    globs.some((glob) => fnmatch(path, glob)) || expressions.some((expression) => expression.matches(path))
}

/** Make a pattern for `re.match` that acts like `re.search`. Flags stay at the very start, as Python requires. */
function anywhere(pattern: string): string {
  const flags = /^(?:\(\?[a-zA-Z]+\))*/.exec(pattern)?.[0] ?? ''
  return `${flags}[\\s\\S]*?(?:${pattern.slice(flags.length)})`
}

function texts(value: unknown): string[] {
  return [value].flat().filter((item): item is string => typeof item === 'string')
}
