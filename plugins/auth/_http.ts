/** A single HTTP request. Redirects are not followed: the request may go to one server only. */
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { isIP } from 'node:net'
import type { Settings } from './_settings.ts'

export interface HttpQuery {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** File of certificate authorities in PEM, trusted instead of those of Node. */
  readonly authorities: string | undefined
  readonly signal: AbortSignal
}

export interface HttpAnswer {
  readonly status: number
  readonly text: string
}

const MAX_BYTES = 1024 * 1024

/** Rejects if no response arrives, if it is too long, or if the certificate cannot be verified. */
export async function askOverHttp({ authorities, url, ...question }: HttpQuery): Promise<HttpAnswer> {
  const ca = authorities === undefined ? undefined : await readFile(authorities)
  const { method, headers, body, signal } = question
  const ask = url.protocol === 'https:' ? tlsRequest : request
  return new Promise((done, fail) => {
    const asked = ask(
      url,
      { method, headers: { ...headers }, agent: false, signal, ...(ca && { ca }) },
      async (answer) => {
        try {
          const chunks: Buffer[] = []
          let size = 0
          for await (const chunk of answer as AsyncIterable<Buffer>) {
            size += chunk.length
            if (size > MAX_BYTES) throw new Error(`the answer is longer than ${MAX_BYTES} bytes`)
            chunks.push(chunk)
          }
          done({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() })
        } catch (error) {
          asked.destroy()
          fail(error)
        }
      },
    )
    asked.on('error', fail)
    asked.end(body)
  })
}

/** Read a setting that is a URL; undefined if it is missing or wrong. Errors do not show its text: it may have a password in it. */
export function readUrl(read: Settings, name: string): URL | undefined {
  const text = read.text(name)
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  read.refuse(name, 'must be an address that begins with https://, or with http://')
  return undefined
}

/** Whether a URL sends plain text to another host, where it could be read and changed on the way. */
export const isOpen = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' &&
  hostname !== 'localhost' &&
  hostname !== '[::1]' &&
  !(isIP(hostname) === 4 && hostname.startsWith('127.'))
