import { readFile } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { replaceFile } from '#internal'

/** Where the key of a repository comes from. */
export interface KeySource {
  readonly key_url?: string | undefined
  readonly key_text?: string | undefined
  readonly saltenv: string
}

/** Store the key of a repository in its file `signed-by`. Does nothing if no key is given. */
export async function installKey(given: KeySource, signedby: string, context: Context): Promise<void> {
  if (given.key_url === undefined && given.key_text === undefined) return
  if (!isAbsolute(signedby)) {
    throw new SaltInvocationError(
      "missing 'signedby' option when apt-key is missing: name the key's file in the definition, as in deb [signed-by=/etc/apt/keyrings/NAME.gpg] …",
    )
  }
  if (!/\.(gpg|asc)$/.test(signedby)) {
    throw new SaltInvocationError(
      `signed-by=${signedby} is not a file of keys, whose name ends with .gpg or .asc, as in /etc/apt/keyrings/NAME.gpg`,
    )
  }
  const { key_text } = given
  await storeKey(
    signedby,
    key_text === undefined ? { file: await fetched(given, context) } : { text: key_text },
  )
}

/** Store a key in a file, in the form in which apt reads it from there: as text if the name ends with .asc. */
export async function storeKey(
  path: string,
  given: { readonly file: string } | { readonly text: string },
): Promise<void> {
  const key = 'file' in given ? await readFile(given.file) : Buffer.from(given.text)
  await replaceFile(path, path.endsWith('.asc') ? key : binaryKey(key, path))
}

async function fetched({ key_url = '', saltenv }: KeySource, context: Context): Promise<string> {
  const path = isAbsolute(key_url) ? key_url : await context.call('cp.cache_file', { path: key_url, saltenv })
  if (typeof path !== 'string' || path === '') {
    throw new CommandExecutionError(`Error: file not found: ${key_url}`)
  }
  return path
}

/** Return a key as apt reads it from files that do not end with .asc: not as text. */
function binaryKey(key: Buffer, signedby: string): Buffer {
  const text = key.toString('latin1')
  if (!text.includes('-----BEGIN PGP')) return key
  const [, body] =
    /-----BEGIN PGP PUBLIC KEY BLOCK-----\r?\n(?:[^\r\n]+\r?\n)*\r?\n([\s\S]*?)\r?\n=[\w+/]{4}\s*-----END/.exec(
      text,
    ) ?? []
  if (body !== undefined) return Buffer.from(body, 'base64')
  throw new CommandExecutionError(`Error: Could not add key: ${signedby}: it is not an OpenPGP public key`)
}
