import { readFile, stat } from 'node:fs/promises'
import { SaltInvocationError } from 'salt-ts'

const ENTRY =
  /\s*-----BEGIN ([A-Z0-9 ]+)-----\s+(?:(Proc-Type: 4,ENCRYPTED)\s*)?(?:(DEK-Info: [A-Z0-9-]+,[0-9A-F]+)\s*)?([A-Za-z0-9+/=\s]+?)\s+-----END \1-----\s*/

/** Return the content of a file, or the text itself if it is no path. */
async function textOrFile(given: string): Promise<string> {
  const isPath = !given.includes('\n') && (await stat(given).catch(() => undefined))?.isFile()
  return isPath ? readFile(given, 'utf8') : given
}

/** Return the first PEM entry of a text or a file, with lines of 64 characters. */
export async function pemEntry(given: string, type?: string): Promise<string> {
  const text = withLines((await textOrFile(given)).replaceAll('\\n', '\n'))
  const entries = [...text.matchAll(new RegExp(ENTRY, 'g'))]
  const [, kind, processing, cipher, body = ''] = entries.find(([, found]) => !type || found === type) ?? []
  if (kind === undefined)
    throw new SaltInvocationError(
      type ? `PEM does not contain a single entry of type ${type}.` : 'PEM text not valid.',
    )
  const encryption = [processing, cipher].filter(Boolean).map((line) => `${line}\n`)
  if (encryption.length > 0) encryption.push('\n')
  const lines = body.replaceAll(/\s/g, '').replaceAll(/.{1,64}/g, '$&\n')
  return `-----BEGIN ${kind}-----\n${encryption.join('')}${lines}-----END ${kind}-----\n`
}

/** Break an entry that was passed on one line. */
const withLines = (text: string): string =>
  text.trim().includes('\n')
    ? text
    : text.replaceAll(/(-----BEGIN [^-]+-----)|(-----END [^-]+-----)/g, '$1\n$2')
