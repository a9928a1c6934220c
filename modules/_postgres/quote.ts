import { SaltInvocationError } from 'salt-ts'

/** Quote a name for SQL, whatever characters it has. */
export function ident(name: string): string {
  refuseNul(name)
  if (name === '') throw new SaltInvocationError('A name for the database server is empty.')
  return `"${name.replaceAll('"', '""')}"`
}

/** Quote a text for SQL, whether or not the server takes a backslash for an escape. */
export function literal(text: string): string {
  refuseNul(text)
  const quoted = text.replaceAll("'", "''")
  return quoted.includes('\\') ? ` E'${quoted.replaceAll('\\', '\\\\')}'` : `'${quoted}'`
}

/** Take quotes off that callers put around a text, as Salt puts it into SQL without any. */
export const unquoted = (text: string): string => /^(['"])(.*)\1$/s.exec(text)?.[2] ?? text

/** Check the name of a server's parameter, which has no quotes. */
export function parameterName(name: string): string {
  if (/^[A-Za-z_]\w*$/.test(name)) return name
  throw new SaltInvocationError(`'${name}' is not the name of an option.`)
}

/** Check the text of a function with the types of its arguments, as the server itself writes it: `s.f(integer)`. */
export function functionText(text: string): string {
  if (/^(?:[\w$.]|"[^"]+")+\((?:[\w\s$.,[\]()]|"[^"]+")*\)$/.test(text)) return text
  throw new SaltInvocationError(
    `'${text}' is not a function with the types of its arguments, such as f(integer).`,
  )
}

function refuseNul(text: string): void {
  if (text.includes('\0'))
    throw new SaltInvocationError('A text for the database server has a NUL character, which it cannot take.')
}
