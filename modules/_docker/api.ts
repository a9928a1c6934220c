import { type IncomingMessage, request } from 'node:http'
import { CommandExecutionError, type Context } from 'salt-ts'

export type Json = Record<string, unknown>
interface Answer {
  readonly status: number
  readonly body: Buffer
}

/** Docker refused a request. */
export class DockerRefusal extends CommandExecutionError {
  readonly status: number
  readonly reason: string

  constructor(status: number, reason: string) {
    super(`Error ${status}: ${reason}`)
    this.status = status
    this.reason = reason
  }
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

/** Send a request to Docker, with a value as JSON. Rejects with its message if it refuses. A 304 (nothing to do) is no error. */
export async function docker(
  method: string,
  path: string,
  context: Context,
  value?: unknown,
): Promise<Buffer> {
  const { status, body } = await send(method, path, context, value)
  if (status < 400) return body
  throw new DockerRefusal(status, messageIn(body))
}

/** Send a request to Docker and parse its answer. */
export async function dockerJson<T>(
  method: string,
  path: string,
  context: Context,
  value?: unknown,
): Promise<T> {
  return JSON.parse((await docker(method, path, context, value)).toString('utf8')) as T
}

/** Send a request to Docker and parse its answer, which is a line of JSON for each event of what it does. */
export async function dockerEvents(method: string, path: string, context: Context): Promise<Json[]> {
  const lines = (await docker(method, path, context)).toString('utf8').split('\n')
  return lines.filter((line) => line.trim()).map((line) => JSON.parse(line) as Json)
}

/** Write a path of parts, and a query without what is undefined. @throws CommandExecutionError for a name that would lead elsewhere */
export function address(parts: readonly string[], query: Readonly<Record<string, unknown>> = {}): string {
  const stray = parts.find((part) => ['', '.', '..'].includes(part))
  if (stray !== undefined) throw new CommandExecutionError(`'${stray}' is no name of anything in Docker.`)
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(given.map(([key, value]): [string, string] => [key, String(value)]))
  const path = `/${parts.map(encodeURIComponent).join('/')}`
  return given.length > 0 ? `${path}?${search}` : path
}

/** Return null for what Docker does not know. @throws another error */
export function ifAbsent(error: unknown): null {
  if (error instanceof DockerRefusal && error.status === 404) return null
  throw error
}

/** Write filters as Docker takes them: lists of texts by name. */
export function filterText(filters: Json | undefined): string | undefined {
  if (!filters || Object.keys(filters).length === 0) return undefined
  const lists = Object.entries(filters).map(([key, value]) => [
    key,
    (Array.isArray(value) ? value : [value]).map(String),
  ])
  return JSON.stringify(Object.fromEntries(lists))
}

function messageIn(body: Buffer): string {
  const text = body.toString('utf8')
  try {
    return String((JSON.parse(text) as Json).message)
  } catch {
    return text
  }
}

function send(method: string, path: string, context: Context, value: unknown): Promise<Answer> {
  const socket = socketPath(context)
  const content = value === undefined ? undefined : Buffer.from(JSON.stringify(value))
  const headers = {
    host: 'docker',
    ...(content && { 'content-type': 'application/json', 'content-length': content.length }),
  }
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath: socket, method, path, signal: context.signal, headers }, (response) =>
      resolve(answerOf(response)),
    )
    sent.on('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new CommandExecutionError(`Docker cannot be reached at ${socket}: ${cause.code ?? cause.message}`),
      ),
    )
    sent.end(content)
  })
}

async function answerOf(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks) }
}
