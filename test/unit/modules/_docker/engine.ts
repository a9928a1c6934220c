import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { onTestFinished, vi } from 'vitest'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { fakeContext } from '../context.ts'

type Json = Record<string, unknown>
interface Request {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** What was sent as JSON. */
  readonly body: Json
  /** What was sent, as it is. */
  readonly bytes: Buffer
}
interface Told {
  readonly status?: number
  readonly content?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the connection breaks after the content, before the answer is complete. */
  readonly breaks?: boolean
  /** Whether a program ends before it has read its input. */
  readonly isDeaf?: boolean
  /** Whether nothing follows the content, although the answer is not complete. */
  readonly stalls?: boolean
}

/** A piece of output with the header that Docker puts before it. */
export function frame(stream: 1 | 2, text: string): Buffer {
  const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0])
  header.writeUInt32BE(Buffer.byteLength(text), 4)
  return Buffer.concat([header, Buffer.from(text)])
}

/** Start a stand-in in a folder of its own, in which Docker has its configuration, too, until the present test ends. */
export async function openEngine(): Promise<{ folder: string; engine: Engine }> {
  const folder = await temporaryFolder()
  const engine = new Engine()
  await engine.listen(join(folder, 'docker.sock'))
  vi.stubEnv('DOCKER_CONFIG', join(folder, 'config'))
  onTestFinished(async () => {
    vi.unstubAllEnvs()
    await engine.close()
    await removeFolder(folder)
  })
  return { folder, engine }
}

/** Return a context whose functions ask the stand-in of a folder. */
export const engineContext = (folder: string, overrides = {}) =>
  fakeContext({ opts: { 'docker.url': `unix://${folder}/docker.sock` }, ...overrides })

/** A stand-in for the Docker Engine: it answers with what its interface documents, and keeps what was asked. */
export class Engine {
  readonly asked: Request[] = []
  containers: Record<string, Json> = {}
  images: Json[] = [
    {
      Id: 'sha256:aaaaaaaaaaaaaaaa',
      ParentId: '',
      RepoTags: ['debian:12', 'debian:latest'],
      Created: 5,
      Size: 1536,
    },
    {
      Id: 'sha256:bbbbbbbbbbbbbbbb',
      ParentId: 'sha256:aaaaaaaaaaaaaaaa',
      RepoTags: null,
      Created: 6,
      Size: 10,
    },
  ]
  /** What is answered to other paths, by method and path. */
  answers: Record<string, unknown> = {}
  /** What happens when a path is asked for, by method and path. */
  hooks: Record<string, () => unknown> = {}
  /** What programs in containers were given to read. */
  readonly inputs: string[] = []
  readonly #server: Server

  constructor() {
    this.#server = createServer(async (incoming, response) => {
      const { method = '', url = '', headers } = incoming
      const bytes = await buffer(incoming)
      const { pathname, searchParams } = new URL(url, 'http://docker')
      const request = {
        method,
        path: decodeURIComponent(pathname),
        query: searchParams,
        headers,
        body: headers['content-type'] === 'application/json' ? (JSON.parse(bytes.toString()) as Json) : {},
        bytes,
      }
      this.asked.push(request)
      this.hooks[`${method} ${request.path}`]?.()
      const { status = 200, content, headers: told, breaks, stalls } = this.#answer(request)
      response.writeHead(status, told)
      const body =
        Buffer.isBuffer(content) || typeof content === 'string' ? content : JSON.stringify(content ?? {})
      if (breaks) response.write(body, () => incoming.socket.destroy())
      else if (stalls) response.write(body)
      else response.end(body)
    })
    this.#server.on('upgrade', async ({ url = '', headers }, socket, head) => {
      socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n')
      const { content, isDeaf } = (this.answers[`POST ${decodeURIComponent(url)}`] ?? {}) as Told
      if (isDeaf) return socket.end(content as Buffer, () => socket.destroy())
      // The other direction stays open when this one has ended.
      const read = (socket as Socket).iterator({ destroyOnReturn: false })
      const sent = Buffer.concat([head, await buffer(read)])
      this.inputs.push(sent.subarray(Number(headers['content-length'])).toString())
      return socket.end(content as Buffer)
    })
  }

  listen(path: string): Promise<void> {
    return new Promise((resolve) => this.#server.listen(path, resolve))
  }

  close(): Promise<unknown> {
    return new Promise((resolve) => this.#server.close(resolve))
  }

  #answer(request: Request): Told {
    const { method, path, query, body } = request
    const known = this.answers[`${method} ${path}`]
    if (known !== undefined) return known as Told
    if (path === '/containers/json') return { content: Object.values(this.containers) }
    if (path === '/images/json')
      return {
        content: ['true', '1'].includes(query.get('all') ?? '') ? this.images : this.images.slice(0, 1),
      }
    if (path === '/containers/create') {
      const Id = 'c'.repeat(12)
      const name = query.get('name') ?? 'brave_name'
      this.containers[name] = {
        Id,
        Names: [`/${name}`],
        Name: `/${name}`,
        Status: 'Created',
        State: {},
        body,
      }
      return { status: 201, content: { Id, Warnings: [] } }
    }
    const [, kind, name = '', action = ''] = /^\/(containers|images)\/(.+?)(?:\/([a-z]+))?$/.exec(path) ?? []
    if (kind === 'images') return this.#image(method, name)
    if (kind === 'containers') return this.#container(method, name, action)
    return { status: 404, content: { message: `page not found: ${path}` } }
  }

  #image(method: string, name: string): Told {
    const image = this.images.find(
      ({ Id, RepoTags }) => Id === name || (RepoTags as string[] | null)?.includes(name),
    )
    if (!image) return { status: 404, content: { message: `No such image: ${name}` } }
    if (method === 'DELETE') this.images = this.images.filter((one) => one !== image)
    return { content: image }
  }

  #container(method: string, name: string, action: string): Told {
    const found = Object.entries(this.containers).find(([key, { Id }]) => key === name || Id === name)
    if (!found) return { status: 404, content: { message: `No such container: ${name}` } }
    const [key, container] = found
    const running = { Running: true, Paused: false, Status: 'running', ExitCode: 0, Pid: 7 }
    if (method === 'DELETE') delete this.containers[key]
    if (action === 'start' || action === 'unpause')
      Object.assign(container, { Status: 'Up 1 second', State: running })
    if (action === 'pause') container.State = { ...running, Paused: true }
    if (action === 'stop') Object.assign(container, { Status: 'Exited (0)', State: { Running: false } })
    if (action === 'wait' || action === 'logs')
      Object.assign(container, {
        Status: 'Exited (3)',
        State: { Running: false, Status: 'exited', ExitCode: 3 },
      })
    if (action === 'wait') return { content: { StatusCode: 3 } }
    if (action === 'logs') return { content: Buffer.concat([frame(1, 'out\n'), frame(2, 'err\n')]) }
    return { content: container }
  }
}
