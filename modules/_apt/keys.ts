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
  const key = given.key_text === undefined ? await fetched(given, context) : Buffer.from(given.key_text)
  const isText = signedby.endsWith('.asc')
  await replaceFile(signedby, isText ? key : binaryKey(key, signedby))
}

async function fetched({ key_url = '', saltenv }: KeySource, context: Context): Promise<Buffer> {
  const path = isAbsolute(key_url) ? key_url : await context.call('cp.cache_file', { path: key_url, saltenv })
  if (typeof path !== 'string' || path === '') {
    throw new CommandExecutionError(`Error: file not found: ${key_url}`)
  }
  return readFile(path)
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
