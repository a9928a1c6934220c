import { createServer, type Server } from 'node:http'

type Json = Record<string, unknown>
interface Request {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: Json
}

/** A piece of output with the header that Docker puts before it. */
export function frame(stream: 1 | 2, text: string): Buffer {
  const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0])
  header.writeUInt32BE(Buffer.byteLength(text), 4)
  return Buffer.concat([header, Buffer.from(text)])
}

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
  readonly #server: Server

  constructor() {
    this.#server = createServer(async (incoming, response) => {
      const { method = '', url = '' } = incoming
      const chunks: Buffer[] = []
      for await (const chunk of incoming) chunks.push(chunk as Buffer)
      const { pathname, searchParams } = new URL(url, 'http://docker')
      const text = Buffer.concat(chunks).toString('utf8')
      const request = {
        method,
        path: decodeURIComponent(pathname),
        query: searchParams,
        body: text ? (JSON.parse(text) as Json) : {},
      }
      this.asked.push(request)
      const { status = 200, content } = this.#answer(request)
      response.writeHead(status)
      response.end(
        Buffer.isBuffer(content) || typeof content === 'string' ? content : JSON.stringify(content ?? {}),
      )
    })
  }

  listen(path: string): Promise<void> {
    return new Promise((resolve) => this.#server.listen(path, resolve))
  }

  close(): Promise<unknown> {
    return new Promise((resolve) => this.#server.close(resolve))
  }

  #answer(request: Request): { status?: number; content?: unknown } {
    const { method, path, query, body } = request
    const known = this.answers[`${method} ${path}`]
    if (known !== undefined) return known as { status?: number; content?: unknown }
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

  #image(method: string, name: string): { status?: number; content?: unknown } {
    const image = this.images.find(
      ({ Id, RepoTags }) => Id === name || (RepoTags as string[] | null)?.includes(name),
    )
    if (!image) return { status: 404, content: { message: `No such image: ${name}` } }
    if (method === 'DELETE') this.images = this.images.filter((one) => one !== image)
    return { content: image }
  }

  #container(method: string, name: string, action: string): { status?: number; content?: unknown } {
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
