import { SaltInvocationError } from 'salt-ts'

/**
 * Return the name of an init script. It becomes a part of paths, and an argument of programs.
 * @throws SaltInvocationError if it cannot be the name of a file in one folder, or would be an option
 */
export function scriptName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (name !== '.' && name !== '..' && /^[^-/\s\u0000-\u001f\u007f][^/\s\u0000-\u001f\u007f]*$/.test(name))
    return name
  throw new SaltInvocationError(
    `${JSON.stringify(name)} is not the name of a service: it must not be empty, begin with "-", nor contain a slash or white space`,
  )
}
