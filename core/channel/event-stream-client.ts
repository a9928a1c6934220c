import { connect } from 'node:net'
import { deferred } from '../base/deferred.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { encodeNetwork } from '../codec/index.ts'
import type { SymmetricKey } from '../crypto/index.ts'
import {
  deriveDirections,
  FRAME_KINDS,
  FrameCutter,
  HANDSHAKE_MS,
  HEARTBEAT_MS,
  MAX_FRAME_BYTES,
  newStreamNonce,
  packProof,
  readGreeting,
  SILENCE_MS,
  type StreamFrame,
} from './event-stream.ts'

export interface StreamConnectionSettings {
  readonly host: string
  readonly port: number
  readonly id: string
  readonly session: SymmetricKey
  onEvent(body: Uint8Array): void
  /** Called once, when the connection has ended. */
  onEnd(why: string): void
}

/** One connection to the event stream of a master. */
export interface StreamConnection {
  /** Subscribe to events of these tags and no others; resolves when they come, rejects if the connection ends before. */
  want(texts: readonly string[]): Promise<void>
  close(): void
}

/**
 * Resolves when both sides have proved that they hold the session key.
 * @throws SaltError MASTER_UNREACHABLE; AUTHENTICATION_FAILED if the master closes it: the key is not accepted, or old
 */
export function connectStream(settings: StreamConnectionSettings): Promise<StreamConnection> {
  const { host, port, id, session } = settings
  const opened = deferred<StreamConnection>()
  const socket = connect({ host, port })
  const cutter = new FrameCutter()
  const granted: ReturnType<typeof deferred<void>>[] = []
  let directions: ReturnType<typeof deriveDirections> | undefined
  let isOpen = false
  let why = 'the master closed the connection'
  let lastReceivedAt = performance.now()

  const connection: StreamConnection = {
    want(texts) {
      const answer = deferred<void>()
      granted.push(answer)
      send(FRAME_KINDS.want, encodeNetwork(texts))
      return answer.promise
    },
    close: () => void socket.destroy(),
  }
  const send = (kind: number, payload?: Uint8Array) => {
    if (directions && socket.writable) socket.write(directions.toServer.seal(kind, payload))
  }
  const timers = [
    setTimeout(() => end('it did not answer in time'), HANDSHAKE_MS),
    setInterval(() => {
      if (performance.now() - lastReceivedAt > SILENCE_MS)
        end(`nothing was received for ${SILENCE_MS / 1000} s`)
      else send(FRAME_KINDS.heartbeat)
    }, HEARTBEAT_MS),
  ]
  function end(reason: string): void {
    why = reason
    socket.destroy()
  }

  socket.setNoDelay(true)
  socket.on('data', (chunk) => {
    try {
      for (const payload of cutter.push(chunk, () => MAX_FRAME_BYTES)) {
        if (directions) take(directions.toClient.open(payload))
        else answer(readGreeting(payload))
      }
    } catch (error) {
      end(messageOf(error))
    }
  })
  socket.on('error', (error) => end(messageOf(error)))
  socket.on('close', () => {
    for (const timer of timers) clearTimeout(timer)
    const error = isOpen || !directions ? gone(host, port, why) : refused(host, port, why)
    opened.reject(error)
    for (const { reject } of granted) reject(error)
    if (isOpen) settings.onEnd(why)
  })

  function answer(nonce: Buffer): void {
    const clientNonce = newStreamNonce()
    directions = deriveDirections(session, nonce, clientNonce)
    socket.write(packProof(id, session, nonce, clientNonce))
  }

  function take({ kind, payload }: StreamFrame): void {
    lastReceivedAt = performance.now()
    if (!isOpen) {
      isOpen = true
      clearTimeout(timers[0])
      send(FRAME_KINDS.heartbeat)
      opened.resolve(connection)
    }
    if (kind === FRAME_KINDS.event) settings.onEvent(payload)
    else if (kind === FRAME_KINDS.granted) granted.shift()?.resolve()
  }

  return opened.promise
}

const gone = (host: string, port: number, why: string) =>
  new SaltError('MASTER_UNREACHABLE', `The event stream at ${host}:${port} cannot be reached: ${why}.`, {
    host,
    port,
  })

const refused = (host: string, port: number, why: string) =>
  new SaltError('AUTHENTICATION_FAILED', `The event stream at ${host}:${port} refused this host: ${why}.`, {
    host,
    port,
  })
