import { SaltInvocationError } from 'salt-ts'

/** What to look for in the journal. */
export interface Query {
  readonly unit?: string | readonly string[] | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly priority?: string | undefined
  readonly lines: number
  readonly grep?: string | undefined
  readonly boot?: boolean | number | string | undefined
  readonly identifier?: string | readonly string[] | undefined
  readonly directory?: string | undefined
}

/** Return the arguments of journalctl for a query. It prints the newest entry first, so that reading may end early. */
export function journalArguments(query: Query, fields: readonly string[] | undefined): string[] {
  const { unit, since, until, priority, lines, grep, boot, identifier, directory } = query
  return [
    ...['--output=json', '--all', '--no-pager', '--quiet', '--reverse', `--lines=${lines}`],
    ...option('directory', directory),
    ...option('output-fields', fields?.join(',')),
    ...several('unit', unit),
    ...several('identifier', identifier),
    ...option('since', pointInTime(since)),
    ...option('until', pointInTime(until)),
    ...option('priority', priority),
    ...option('grep', grep),
    ...(boot === true ? ['--boot'] : option('boot', boot === false ? undefined : boot)),
  ]
}

const several = (name: string, values: string | readonly string[] = []): string[] =>
  [values].flat().flatMap((value) => option(name, value))

function option(name: string, value: string | number | undefined): string[] {
  if (value === undefined) return []
  const text = String(value)
  if (text !== '' && !text.includes('\0')) return [`--${name}=${text}`]
  throw new SaltInvocationError(`'${name}' must not be empty, nor contain a null byte`)
}

/** journalctl marks seconds since 1970 by an @. */
const pointInTime = (given: string | undefined): string | undefined =>
  given !== undefined && /^\d+(\.\d+)?$/.test(given) ? `@${given}` : given
