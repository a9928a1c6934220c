/** Sends messages to a syslog server: over UDP, TCP, TLS, or the local socket. */
import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { isIP, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { UnsavableError } from 'salt-ts'
import type { Origin } from './_syslog-message.ts'

/** Largest datagrams: UDP over IPv4, and a Unix socket with the default settings of Linux. */
const UDP_BYTES = 65_507
const UNIX_BYTES = 200_000

/** Resolves when the operating system has the messages. UDP does not confirm their arrival. */
export async function overUdp(host: string, port: number, messages: readonly Buffer[]): Promise<void> {
  refuseLarge(messages, UDP_BYTES)
  const socket = createSocket(isIP(host) === 6 ? 'udp6' : 'udp4')
  try {
    for (const message of messages)
      await new Promise<void>((done, fail) => {
        socket.send(message, port, host, (error) => (error ? fail(error) : done()))
      })
  } finally {
    socket.close()
  }
}

/**
 * Send each message after its length (RFC 6587, 5425) and end the connection. The server closes it when it has read everything,
 * which this waits for: what was written to an open connection may be lost with it.
 */
export function overStream(socket: Socket, messages: readonly Buffer[], timeout: number): Promise<void> {
  return new Promise((done, fail) => {
    socket.setTimeout(timeout * 1000, () => {
      socket.destroy(new Error(`no answer within ${timeout} seconds`))
    })
    socket.once('error', fail)
    socket.once('close', () => done())
    socket.resume()
    socket.end(Buffer.concat(messages.flatMap((message) => [Buffer.from(`${message.length} `), message])))
  })
}

/** Send lines with `logger`, which every Linux has: Node has no Unix datagram sockets. Lines must have no line breaks. */
export async function overSocket(
  path: string,
  { level, facility, tag, withPid }: Origin,
  lines: readonly string[],
  timeout: number,
): Promise<void> {
  const name = (constant: string) => constant.slice('LOG_'.length).toLowerCase()
  const messages = lines.map((line) => Buffer.from(`${line}\n`))
  refuseLarge(messages, UNIX_BYTES)
  const logger = spawn(
    'logger',
    [
      ...['--socket', path, '--socket-errors=on', '--size', String(UNIX_BYTES)],
      ...['--priority', `${name(facility)}.${name(level)}`, '--tag', tag],
      ...(withPid ? [`--id=${process.pid}`] : []),
    ],
    { stdio: ['pipe', 'ignore', 'pipe'], timeout: timeout * 1000, killSignal: 'SIGKILL' },
  )
  const ended = new Promise<number | null>((done, fail) => logger.on('error', fail).on('close', done))
  logger.stdin.on('error', () => undefined)
  logger.stdin.end(Buffer.concat(messages))
  const [code, said] = await Promise.all([ended, text(logger.stderr)])
  if (code === null) throw new Error(`no answer within ${timeout} seconds`)
  if (code !== 0 || said !== '') throw new Error(said.trim() || `logger ended with ${code}`)
}

function refuseLarge(messages: readonly Buffer[], most: number): void {
  const large = messages.find(({ length }) => length > most)
  if (large)
    throw new UnsavableError(
      `A message of ${large.length} bytes does not fit into a datagram of ${most} bytes. Use TCP.`,
    )
}
