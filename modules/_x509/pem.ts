import { stat } from 'node:fs/promises'
import { SaltInvocationError } from 'salt-ts'
import { readRegular } from '../_file/regular.ts'

const MOST_BYTES = 4 * 1024 * 1024
const BEGIN = /-----BEGIN ([A-Z0-9 ]+)-----\s/g
const HEADERS = /^\s*(?:(Proc-Type: 4,ENCRYPTED)\s*)?(?:(DEK-Info: [A-Z0-9-]+,[0-9A-F]+)\s*)?/

interface Entry {
  readonly kind: string
  /** Lines that say how it is encrypted. */
  readonly headers: readonly string[]
  readonly body: string
}

/** Find the entries of a text. One pass: a text that somebody has planted must not take longer than it is long. */
function* entriesIn(text: string): Generator<Entry> {
  const begin = new RegExp(BEGIN)
  const unended = new Set<string>()
  for (let found = begin.exec(text); found; found = begin.exec(text)) {
    const [all, kind = ''] = found
    const mark = `-----END ${kind}-----`
    const from = found.index + all.length
    const end = unended.has(kind) ? -1 : text.indexOf(mark, from)
    if (end < 0) unended.add(kind)
    const inside = text.slice(from, Math.max(end, from))
    const [head, ...headers] = HEADERS.exec(inside) ?? ['']
    const body = inside.slice(head.length)
    if (!/^[A-Za-z0-9+/=\s]+$/.test(body) || !/\S/.test(body) || !/\s$/.test(body)) continue
    begin.lastIndex = end + mark.length
    yield { kind, headers: headers.filter(Boolean), body }
  }
}

/** Return the content of a file, or the text itself if it is no path. */
async function textOrFile(given: string): Promise<string> {
  const isPath = !given.includes('\n') && (await stat(given).catch(() => undefined))?.isFile()
  return isPath ? String(await readRegular(given, MOST_BYTES)) : given
}

/** Say that a text or a file has no entry. Only a path that leads to no file is shown: texts may be secret. */
function problemOf(given: string, text: string, called: string | undefined): string {
  const what = called ? `PEM does not contain a single entry of type ${called}` : 'PEM text not valid'
  return text === given && /^\/[^\n]*$/.test(given) ? `${what}:\n${given}` : `${what}.`
}

/**
 * Return the first PEM entry of a text or a file, with lines of 64 characters. `called` is the type that is named if there
 * is none.
 */
export async function pemEntry(given: string, type?: string, called = type): Promise<string> {
  const found = await textOrFile(given)
  const text = withLines(found.replaceAll('\\n', '\n'))
  let wanted: Entry | undefined
  for (const entry of entriesIn(text)) if (!type || entry.kind === type) wanted ??= entry
  if (wanted === undefined) throw new SaltInvocationError(problemOf(given, found, called))
  const { kind, headers, body } = wanted
  const encryption = headers.map((line) => `${line}\n`)
  if (encryption.length > 0) encryption.push('\n')
  const lines = body.replaceAll(/\s/g, '').replaceAll(/.{1,64}/g, '$&\n')
  return `-----BEGIN ${kind}-----\n${encryption.join('')}${lines}-----END ${kind}-----\n`
}

/** Return the bytes of a PEM entry. */
export const derOf = (pem: string): Buffer => Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64')

/** Break an entry that was passed on one line. */
const withLines = (text: string): string =>
  text.trim().includes('\n')
    ? text
    : text.replaceAll(/(-----BEGIN [^-]+-----)|(-----END [^-]+-----)/g, '$1\n$2')
