/** One question over HTTP. Nothing follows a redirect: what is sent is for one server alone. */
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { isIP } from 'node:net'
import type { Settings } from './_settings.ts'

export interface Question {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** A file of authorities in PEM, trusted instead of those of Node. */
  readonly authorities: string | undefined
  readonly signal: AbortSignal
}

export interface HttpAnswer {
  readonly status: number
  readonly text: string
}

const MAX_BYTES = 1024 * 1024

/** Rejects if no answer comes, if it is too long, and if the certificate cannot be checked. */
export async function askOverHttp({ authorities, url, ...question }: Question): Promise<HttpAnswer> {
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

/** A setting that is an address; undefined if it is not set, or wrong. The text is not shown: it may have a password in it. */
export function readUrl(read: Settings, name: string): URL | undefined {
  const text = read.text(name)
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  read.refuse(name, 'must be an address that begins with https://, or with http://')
  return undefined
}

/** What anybody on the way to another host could read and change. */
export const isOpen = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' &&
  hostname !== 'localhost' &&
  hostname !== '[::1]' &&
  !(isIP(hostname) === 4 && hostname.startsWith('127.'))
