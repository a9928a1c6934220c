import { fnmatch, pythonRegExp } from 'salt-ts'

/** Whether a path is not to be served. */
export type Ignored = (path: string) => boolean

/** From `file_ignore_glob` and `file_ignore_regex`. Throws a SaltError for an expression that cannot be used. */
export function openIgnored(opts: Readonly<Record<string, unknown>>): Ignored {
  const globs = texts(opts.file_ignore_glob)
  const expressions = texts(opts.file_ignore_regex).map((pattern) => {
    pythonRegExp(pattern) // refuses it as it was written
    return pythonRegExp(anywhere(pattern))
  })
  return (path) =>
    globs.some((glob) => fnmatch(path, glob)) || expressions.some((expression) => expression.matches(path))
}

/** Python's `re.search` by `re.match`: flags stay at the very start, where Python wants them. */
function anywhere(pattern: string): string {
  const flags = /^(?:\(\?[a-zA-Z]+\))*/.exec(pattern)?.[0] ?? ''
  return `${flags}[\\s\\S]*?(?:${pattern.slice(flags.length)})`
}

function texts(value: unknown): string[] {
  return [value].flat().filter((item): item is string => typeof item === 'string')
}
