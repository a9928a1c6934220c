import { type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps, type RequestOptions } from 'node:https'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'

/** Says by which authorities a server is checked, and which certificate is shown to it. */
export type Tls = Pick<RequestOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized'>

export interface Request {
  readonly method?: string
  readonly headers?: Headers
  readonly body?: Uint8Array | undefined
  readonly tls?: Tls | undefined
}

/** Which answers are waited for, and how long. */
export interface Patience {
  readonly signal: AbortSignal
  /** Until there is a connection. */
  readonly connectMs: number
}

/** Send a request, and return the answer as soon as its headers are there. */
export function send(address: URL, { method = 'GET', headers, body, tls }: Request, patience: Patience) {
  const fields = Object.fromEntries(headers ?? [])
  if (body) fields['content-length'] = String(body.length)
  const { signal, connectMs } = patience
  const options = { method, headers: fields, signal, agent: false as const }
  return new Promise<IncomingMessage>((resolve, reject) => {
    const sent =
      address.protocol === 'https:'
        ? overHttps(address, { ...options, ...tls }, resolve)
        : overHttp(address, options, resolve)
    const late = setTimeout(
      () => sent.destroy(new Error(`no connection within ${connectMs / 1000} s`)),
      connectMs,
    )
    sent.once('socket', (socket) => {
      const ready = address.protocol === 'https:' ? 'secureConnect' : 'connect'
      socket.once(ready, () => clearTimeout(late))
    })
    sent.on('error', reject)
    sent.once('close', () => {
      clearTimeout(late)
      reject(new Error('it closed the connection')) // without an error if it answers 101
    })
    sent.end(body)
  })
}

/** Read the bytes of an answer, and unpack them. @throws Error if they are more than `most` */
export async function bytesOf(answer: IncomingMessage, most: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of answer as AsyncIterable<Buffer>) {
    size += part.length
    if (size > most) throw new TooLong(most)
    parts.push(part)
  }
  const unpack = UNPACKERS[answer.headers['content-encoding'] ?? '']
  const bytes = Buffer.concat(parts)
  if (!unpack || bytes.length === 0) return bytes
  return unpack(bytes, { maxOutputLength: most }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ERR_BUFFER_TOO_LARGE' ? new TooLong(most) : error
  })
}

class TooLong extends Error {
  constructor(most: number) {
    super(`The response has more than ${most} bytes. Raise max_body to allow it.`)
  }
}

type Unpacker = (bytes: Buffer, limits: { maxOutputLength: number }) => Promise<Buffer>

const UNPACKERS: Readonly<Record<string, Unpacker>> = {
  gzip: promisify(gunzip) as Unpacker,
  deflate: promisify(inflate) as Unpacker,
  br: promisify(brotliDecompress) as Unpacker,
}

/** Return the headers of an answer, with names as Salt writes them: `Content-Type`. */
export function headersOfAnswer({ rawHeaders }: IncomingMessage): Record<string, string> {
  const found: Record<string, string> = {}
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = written(rawHeaders[at] as string)
    const value = rawHeaders[at + 1] as string
    found[name] = found[name] === undefined ? value : `${found[name]},${value}`
  }
  return found
}

const written = (name: string): string =>
  name.replaceAll(/[^-]+/g, (word) => (word[0] as string).toUpperCase() + word.slice(1).toLowerCase())
