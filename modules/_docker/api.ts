import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { addAbortSignal, type Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CommandExecutionError, type Context } from 'salt-ts'

export type Json = Record<string, unknown>
/** The parts of a context that a request needs: the configuration, and the signal that ends the request. */
type Caller = Pick<Context, 'opts' | 'signal'>

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
function socketPath({ opts }: Caller): string {
  const url = String(opts['docker.url'] ?? process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock')
  const path = /^(?:http\+)?unix:\/\/(\/.*)$/.exec(url)?.[1]
  if (path !== undefined) return path
  throw new CommandExecutionError(
    `Docker is reached through a unix socket only, not by ${url}; set docker.url`,
  )
}

export type Bytes = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/** The content of a request: a value as JSON, or bytes that come from elsewhere, such as an archive. */
interface Content {
  readonly value?: unknown
  readonly bytes?: Bytes
  readonly headers?: Readonly<Record<string, string>>
}

/** Send a request to Docker, with a value as JSON. Rejects with its message if it refuses. A 304 (nothing to do) is no error. */
export async function docker(
  method: string,
  path: string,
  context: Caller,
  value?: unknown,
): Promise<Buffer> {
  return contentOf(await dockerStream(method, path, context, { value }))
}

/** Send a request to Docker, and return its answer as it arrives. Rejects with its message if it refuses. */
export async function dockerStream(
  method: string,
  path: string,
  context: Caller,
  content: Content = {},
): Promise<IncomingMessage> {
  const answer = await send(method, path, context, content)
  const { statusCode = 0 } = answer
  if (statusCode < 400) return answer
  throw new DockerRefusal(statusCode, messageIn(await contentOf(answer)))
}

/** Send a request to Docker and parse its answer. */
export async function dockerJson<T>(
  method: string,
  path: string,
  context: Caller,
  value?: unknown,
): Promise<T> {
  return JSON.parse((await docker(method, path, context, value)).toString('utf8')) as T
}

/** Send a request to Docker and parse its answer, which is a line of JSON for each event of what it does. */
export async function dockerEvents(
  method: string,
  path: string,
  context: Caller,
  content: Content = {},
): Promise<Json[]> {
  const text = (await contentOf(await dockerStream(method, path, context, content))).toString('utf8')
  const lines = text.split('\n').filter((line) => line.trim())
  return lines.map((line) => JSON.parse(line) as Json)
}

/**
 * Start a program in a container, give it its input while its output is read, and return that. Docker turns the connection into
 * one for both. A program may end before it has read its input.
 */
export async function dockerDialogue(
  path: string,
  value: unknown,
  input: Bytes,
  context: Caller,
): Promise<Buffer> {
  const { socket, head } = await upgraded(path, value, context)
  addAbortSignal(context.signal, socket)
  const chunks = [head]
  const writing = pipeline(input, socket).catch(() => {})
  try {
    for await (const chunk of socket) chunks.push(chunk as Buffer)
  } catch (error) {
    if (!isClosedByPeer(error)) throw error // its answer to the rest of the input of a program that has ended
  }
  await writing
  return Buffer.concat(chunks)
}

const isClosedByPeer = (error: unknown): boolean =>
  ['EPIPE', 'ECONNRESET'].includes((error as NodeJS.ErrnoException).code ?? '')

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

/** Send a request. Resolves when the answer begins. */
function send(method: string, path: string, context: Caller, content: Content): Promise<IncomingMessage> {
  const { value, bytes } = content
  const json = value === undefined ? undefined : Buffer.from(JSON.stringify(value))
  const headers = { ...(json && lengthOf(json)), ...(bytes && ARCHIVE), ...content.headers }
  return new Promise((resolve, reject) => {
    const sent = open(method, path, context, headers)
    let problem: unknown
    sent.on('response', resolve)
    sent.on('error', (cause) => reject(problem ?? unreachable(cause, context)))
    if (!bytes) return sent.end(json)
    const noted = noting(bytes, (error) => {
      problem = error
    })
    return void pipeline(noted, sent).catch(() => {}) // the request fails with it, or has its answer
  })
}

const ARCHIVE = { 'content-type': 'application/x-tar' }
const lengthOf = (json: Buffer) => ({
  'content-type': 'application/json',
  'content-length': String(json.length),
})

/** Pass bytes on, and note why they end too early. */
async function* noting(bytes: Bytes, note: (error: unknown) => void): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes
  } catch (error) {
    note(error)
    throw error
  }
}

interface Conversation {
  readonly socket: Duplex
  /** The bytes that came with the answer. */
  readonly head: Buffer
}

function upgraded(path: string, value: unknown, context: Caller): Promise<Conversation> {
  const json = Buffer.from(JSON.stringify(value))
  return new Promise((resolve, reject) => {
    const sent = open('POST', path, context, { ...lengthOf(json), connection: 'Upgrade', upgrade: 'tcp' })
    sent.on('upgrade', (_, socket, head) => resolve({ socket, head }))
    sent.on('response', (answer) => {
      const refused = (body: Buffer) => new DockerRefusal(answer.statusCode ?? 0, messageIn(body))
      contentOf(answer).then((body) => reject(refused(body)), reject)
    })
    sent.on('error', (cause) => reject(unreachable(cause, context)))
    sent.end(json)
  })
}

const open = (
  method: string,
  path: string,
  context: Caller,
  headers: Readonly<Record<string, string>>,
): ClientRequest =>
  request({
    socketPath: socketPath(context),
    method,
    path,
    signal: context.signal,
    headers: { host: 'docker', ...headers },
  })

function unreachable(cause: NodeJS.ErrnoException, context: Caller): unknown {
  if (context.signal.aborted) return context.signal.reason
  const reason = cause.code ?? cause.message
  return new CommandExecutionError(`Docker cannot be reached at ${socketPath(context)}: ${reason}`)
}

async function contentOf(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
