import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { type IncomingMessage, get as overHttp } from 'node:http'
import { get as overHttps } from 'node:https'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CommandExecutionError } from 'salt-ts'

export interface HttpOptions {
  /** Refuse a server whose certificate is not in order. */
  readonly verifySsl: boolean
  readonly signal: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

const REDIRECTS = 10
/** A server that is silent for so long is given up. */
const SILENCE_MS = 60_000

/** The answer to a GET, redirections followed, to http and https only; a password goes only to where it was given for, by the same protocol. */
async function ask(text: string, options: HttpOptions): Promise<IncomingMessage> {
  let url = new URL(text)
  const { username, password, origin } = url
  for (let count = 0; count <= REDIRECTS; count++) {
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw failure(text, `it redirects to ${url.protocol}, which is not followed`)
    const auth =
      username && url.origin === origin
        ? { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` }
        : {}
    const answer = await request(url, { ...options, ...auth })
    const { statusCode = 0, headers } = answer
    if (statusCode < 300 || statusCode > 399 || statusCode === 304 || !headers.location) return answer
    answer.resume()
    url = new URL(headers.location, url)
    url.username = ''
    url.password = ''
  }
  throw failure(text, `it redirects more than ${REDIRECTS} times`)
}

function request(
  url: URL,
  { verifySsl, signal, headers = {}, auth }: HttpOptions & { readonly auth?: string },
): Promise<IncomingMessage> {
  const bare = new URL(url)
  bare.username = ''
  bare.password = ''
  return new Promise((resolve, reject) => {
    const get = url.protocol === 'https:' ? overHttps : overHttp
    const options = { signal, headers, timeout: SILENCE_MS, ...(auth && { auth }) }
    const sent = get(bare, { ...options, rejectUnauthorized: verifySsl }, resolve)
    sent.once('error', reject)
    sent.once('timeout', () => sent.destroy(new Error(`no answer for ${SILENCE_MS / 1000} s`)))
  })
}

/** What a URL holds. @throws CommandExecutionError */
export async function readUrl(url: string, options: HttpOptions): Promise<Buffer> {
  const answer = await answered(url, options)
  return Buffer.concat(await Readable.from(answer).toArray())
}

/** Replaces `dest` once all has come and `check` is content. With `useEtag` only if the server has another version. */
export async function download(
  url: string,
  dest: string,
  { useEtag, check, ...options }: HttpOptions & { useEtag: boolean; check(path: string): Promise<void> },
): Promise<void> {
  const known = useEtag ? await readFile(`${dest}.etag`, 'utf8').catch(() => undefined) : undefined
  const isThere = known && (await stat(dest).catch(() => undefined))?.isFile()
  const answer = await answered(url, { ...options, ...(isThere && { headers: { 'if-none-match': known } }) })
  if (answer.statusCode === 304) return void answer.resume()
  const temporary = join(dirname(dest), `.tmp-${randomUUID()}`)
  try {
    await pipeline(answer, createWriteStream(temporary, { flags: 'wx' }))
    await check(temporary)
    await rename(temporary, dest)
    const { etag } = answer.headers
    if (useEtag && etag) await writeFile(`${dest}.etag`, etag)
  } finally {
    await rm(temporary, { force: true })
  }
}

async function answered(url: string, options: HttpOptions): Promise<IncomingMessage> {
  const answer = await ask(url, options).catch((error: Error) => {
    throw error instanceof CommandExecutionError ? error : failure(url, error.message)
  })
  const { statusCode = 0, statusMessage } = answer
  if (statusCode === 304 || (statusCode >= 200 && statusCode < 300)) return answer
  answer.resume()
  throw new CommandExecutionError(`HTTP error ${statusCode} reading ${shown(url)}: ${statusMessage}`)
}

const failure = (url: string, reason: string) =>
  new CommandExecutionError(`Error reading ${shown(url)}: ${reason}`)

/** Without user and password. */
export const shown = (url: string): string => url.replace(/^(\w+:\/\/)[^/@]*@/, '$1<redacted>@')
