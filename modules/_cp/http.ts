import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { type IncomingMessage, get as overHttp } from 'node:http'
import { get as overHttps } from 'node:https'
import { dirname, join } from 'node:path'
import { addAbortSignal } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CommandExecutionError } from 'salt-ts'

export interface HttpOptions {
  /** Refuse a server without a valid certificate. */
  readonly verifySsl: boolean
  readonly signal: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

const MAX_REDIRECTS = 10
/** Time without data after which a request fails. */
const IDLE_TIMEOUT_MS = 60_000
/** What a return can hold. */
const MOST_CONTENT = 100 * 1024 * 1024

/**
 * Send a GET request and follow redirects to http and https. User and password go only to the origin they were given
 * for.
 */
async function get(text: string, options: HttpOptions): Promise<IncomingMessage> {
  let url = new URL(text)
  const { username, password, origin } = url
  for (let count = 0; count <= MAX_REDIRECTS; count++) {
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
  throw failure(text, `it redirects more than ${MAX_REDIRECTS} times`)
}

function request(
  url: URL,
  { verifySsl, signal, headers = {}, auth }: HttpOptions & { readonly auth?: string },
): Promise<IncomingMessage> {
  const bare = new URL(url)
  bare.username = ''
  bare.password = ''
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? overHttps : overHttp
    const options = { signal, headers, timeout: IDLE_TIMEOUT_MS, ...(auth && { auth }) }
    const idle = new Error(`no answer for ${IDLE_TIMEOUT_MS / 1000} s`)
    const sent = send(bare, { ...options, rejectUnauthorized: verifySsl }, (answer) => {
      // Without this a body without a length would seem to be whole.
      sent.prependOnceListener('timeout', () => answer.destroy(idle))
      resolve(addAbortSignal(signal, answer))
    })
    sent.once('error', reject)
    sent.once('timeout', () => sent.destroy(idle))
  })
}

/** Read the content of a URL, of at most as many bytes. @throws CommandExecutionError */
export async function readUrl(url: string, options: HttpOptions, most = MOST_CONTENT): Promise<Buffer> {
  const answer = await answered(url, options)
  const parts: Buffer[] = []
  let size = 0
  await pipeline(answer, async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) {
      size += piece.length
      if (size > most) throw new Error(`it has more than ${most} bytes; fetch it into a file`)
      parts.push(piece)
    }
  }).catch(failWith(url))
  return Buffer.concat(parts)
}

/**
 * Download a URL, and replace `dest` if `check` accepts the file. With `useEtag` only if the server has another
 * version.
 */
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
    await pipeline(answer, createWriteStream(temporary, { flags: 'wx' })).catch(failWith(url))
    await check(temporary)
    await rename(temporary, dest)
    const { etag } = answer.headers
    if (useEtag && etag) await writeFile(`${dest}.etag`, etag)
  } finally {
    await rm(temporary, { force: true })
  }
}

async function answered(url: string, options: HttpOptions): Promise<IncomingMessage> {
  const answer = await get(url, options).catch(failWith(url))
  const { statusCode = 0, statusMessage } = answer
  if (statusCode === 304 || (statusCode >= 200 && statusCode < 300)) return answer
  answer.resume()
  throw new CommandExecutionError(
    `HTTP error ${statusCode} reading ${withoutPassword(url)}: ${statusMessage}`,
  )
}

const failWith = (url: string) => (error: Error) => {
  throw error instanceof CommandExecutionError ? error : failure(url, error.message)
}

const failure = (url: string, reason: string) =>
  new CommandExecutionError(`Error reading ${withoutPassword(url)}: ${reason}`)

/** Hide user and password in a URL. */
export const withoutPassword = (url: string): string => url.replace(/^(\w+:\/\/)[^/@]*@/, '$1<redacted>@')
