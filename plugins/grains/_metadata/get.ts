import type { IncomingHttpHeaders } from 'node:http'

/** The address where clouds tell a machine about itself. */
export const SERVER = 'http://169.254.169.254'

/** Time to connect and to answer: on another network nobody refuses the connection. */
const ANSWER_MS = 500
/** The largest answer; user data has at most 16 KiB in EC2, 256 KB in other clouds. */
const MAX_BYTES = 1024 * 1024

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

interface Request {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Ask a metadata server; undefined if it does not answer. No proxy is used: the address is that of the machine itself. */
export async function ask(
  url: string,
  { method = 'GET', headers }: Request = {},
): Promise<Answer | undefined> {
  const { request } = await import('node:http')
  return new Promise((resolve) => {
    const asked = request(url, { method, headers, timeout: ANSWER_MS, agent: false }, (response) => {
      const parts: Buffer[] = []
      let size = 0
      response.on('data', (part: Buffer) => {
        size += part.length
        if (size > MAX_BYTES) asked.destroy()
        else parts.push(part)
      })
      response.on('error', () => resolve(undefined))
      response.on('close', () => resolve(undefined))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(parts).toString('utf8'),
        }),
      )
    })
    asked.on('timeout', () => asked.destroy())
    asked.on('error', () => resolve(undefined))
    asked.end()
  })
}

/** Return the map of a JSON answer with status 200; no grains for another answer. */
export function mapIn(answer: Answer | undefined): Record<string, unknown> {
  if (answer?.status !== 200) return {}
  const value: unknown = JSON.parse(answer.body)
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}
