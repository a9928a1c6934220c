import { request } from 'node:http'
import { CommandExecutionError, type Context } from 'salt-ts'

export type Json = Record<string, unknown>
interface Answer {
  readonly status: number
  readonly body: Buffer
}

/** Return the path of Docker's socket: `docker.url` of the configuration, DOCKER_HOST, or the usual one. */
function socketPath({ opts }: Context): string {
  const url = String(opts['docker.url'] ?? process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock')
  const path = /^(?:http\+)?unix:\/\/(\/.*)$/.exec(url)?.[1]
  if (path !== undefined) return path
  throw new CommandExecutionError(
    `Docker is reached through a unix socket only, not by ${url}; set docker.url`,
  )
}

/** Send a request to Docker. Rejects with its message if it refuses. A 304 (nothing to do) is no error. */
export async function docker(method: string, path: string, context: Context): Promise<Buffer> {
  const { status, body } = await send(method, path, context)
  if (status < 400) return body
  throw new CommandExecutionError(`Error ${status}: ${messageIn(body)}`)
}

/** Send a request to Docker and parse its answer. */
export async function dockerJson<T>(method: string, path: string, context: Context): Promise<T> {
  return JSON.parse((await docker(method, path, context)).toString('utf8')) as T
}

function messageIn(body: Buffer): string {
  const text = body.toString('utf8')
  try {
    return String((JSON.parse(text) as Json).message)
  } catch {
    return text
  }
}

function send(method: string, path: string, context: Context): Promise<Answer> {
  const socket = socketPath(context)
  return new Promise((resolve, reject) => {
    const sent = request(
      { socketPath: socket, method, path, signal: context.signal, headers: { host: 'docker' } },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }))
      },
    )
    sent.on('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new CommandExecutionError(`Docker cannot be reached at ${socket}: ${cause.code ?? cause.message}`),
      ),
    )
    sent.end()
  })
}
