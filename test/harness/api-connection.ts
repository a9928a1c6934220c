/** Connections to salt-api that are read, or not, as the test likes. */
import { connect, type Socket } from 'node:net'
import { until } from './until.ts'

export class ApiConnection {
  readonly socket: Socket
  received = ''
  closed = false

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk) => {
      this.received += chunk
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      this.closed = true
    })
  }

  /** Send a text, as the request it may be. */
  static async open(port: number, text: string): Promise<ApiConnection> {
    const socket = connect(port, '127.0.0.1')
    const connection = new ApiConnection(socket)
    await new Promise<void>((done, fail) => {
      socket.once('connect', done)
      socket.once('error', fail)
    })
    socket.write(text)
    return connection
  }

  /** `GET` with these headers, in lines. */
  static get(port: number, path: string, headers: readonly string[] = []): Promise<ApiConnection> {
    return ApiConnection.open(port, `${[`GET ${path} HTTP/1.1`, 'Host: x', ...headers].join('\r\n')}\r\n\r\n`)
  }

  /** Resolves when what came has this in it. */
  async has(text: string | RegExp): Promise<string> {
    const found = () => (typeof text === 'string' ? this.received.includes(text) : text.test(this.received))
    await until(() => `${text} in ${this.received.slice(-500)}`, found)
    return this.received
  }

  async ended(): Promise<string> {
    await until(
      () => `the end after ${this.received.slice(-500)}`,
      () => this.closed,
    )
    return this.received
  }
}
