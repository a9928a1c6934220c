/** Connections to memcached, with its meta commands, which allow any bytes in keys (memcached 1.6.10 or later). */
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type Args, p, UnsavableError } from 'salt-ts'
import { openOnDemand } from './_on-demand.ts'
import { duration, portNumber } from './_options.ts'
import { storeCall } from './_store-call.ts'
import { tlsFacts, tlsOptions } from './_tls.ts'

export const connectionOptions = {
  host: p.default(p.string(), 'localhost'),
  port: p.default(portNumber, 11_211),
  ...tlsOptions,
  timeout: p.default(duration, 5),
} as const

/** The commands. Those issued in one turn of the event loop are sent together. */
export interface Memcache {
  get(key: string): Promise<string | undefined>
  set(key: string, value: string): Promise<void>
  /** Append to a value, or create it, also with concurrent writers. Throws an UnsavableError if the value becomes too large. */
  append(key: string, value: string): Promise<void>
  delete(key: string): Promise<void>
}

export interface Connection {
  ask<T>(question: (memcache: Memcache) => Promise<T>): Promise<T>
  close(): Promise<void>
}

interface Reply {
  /** `VA`, `HD` (done), `EN` (miss), `NF`, `NS`, `SERVER_ERROR …` */
  readonly line: string
  readonly value: Buffer
}

interface Waiting {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
}

/** Connect on demand. `ttl` is in seconds; 0 means forever. */
export async function connectMemcache(
  options: Args<typeof connectionOptions>,
  ttl: number,
): Promise<Connection> {
  const { host, port, timeout } = options
  const tls = await tlsFacts(options)
  const open = (lost: () => void) =>
    opened(
      tls ? connectTls({ host, port, ...tls }) : connect({ host, port }),
      tls ? 'secureConnect' : 'connect',
      lost,
    )
  const wire = openOnDemand(open, async ({ socket }) => socket.destroy())
  const memcache: Memcache = commands(async (text, value) => (await wire.get()).send(text, value), ttl)
  const place = { place: `memcached at ${host}:${port}`, timeout }
  return {
    ask: async (question) => {
      try {
        return await storeCall(place, () => question(memcache))
      } catch (error) {
        if (!(error instanceof UnsavableError)) void wire.close()
        throw error
      }
    },
    close: wire.close,
  }
}

type Send = (command: string, value?: Buffer) => Promise<Reply>

function commands(send: Send, ttl: number): Memcache {
  const store = async (key: string, value: string, flags: string) => {
    const bytes = Buffer.from(value)
    const [text, flag] = coded(key)
    const { line } = await send(`ms ${text} ${bytes.length}${flag} F${TEXT} ${flags}`, bytes)
    if (line.startsWith('SERVER_ERROR object too large'))
      throw new UnsavableError(`${key} is larger than memcached allows (see its option -I).`)
    return done(line, 'HD', 'NS') === 'HD'
  }
  return {
    get: async (key) => {
      const { line, value } = await send(`mg ${coded(key).join('')} v`)
      return done(line, 'VA', 'EN').startsWith('VA') ? value.toString() : undefined
    },
    set: async (key, value) => {
      if (!(await store(key, value, `T${expiry(ttl)}`))) throw new Error(`${key} was not stored`)
    },
    append: async (key, value) => {
      for (const mode of ['MA', 'ME', 'MA']) if (await store(key, value, mode)) return
      throw new UnsavableError(`${key} would become larger than memcached allows (see its option -I).`)
    },
    delete: async (key) => {
      done((await send(`md ${coded(key).join('')}`)).line, 'HD', 'NF')
    },
  }
}

function done(line: string, ...expected: readonly string[]): string {
  if (!expected.some((code) => line.startsWith(code))) throw new Error(line)
  return line
}

/** Return a key as it is, or in base64 if a command cannot have it as it is. */
function coded(key: string): readonly [text: string, flag: string] {
  const coded = /[\0-\x20\x7F]/.test(key)
    ? ([Buffer.from(key).toString('base64'), ' b'] as const)
    : ([key, ''] as const)
  if (Buffer.byteLength(coded[0]) > 250)
    throw new UnsavableError(`The key ${key} is longer than memcached allows.`)
  return coded
}

/** Flag with which Python's client marks text. */
const TEXT = 16

/** Return the expiry. memcached treats more than 30 days as a Unix timestamp. */
const expiry = (ttl: number) => (ttl > 2_592_000 ? Math.floor(Date.now() / 1000) + ttl : ttl)

interface Wire {
  readonly socket: Socket
  readonly send: Send
}

function opened(socket: Socket, ready: 'connect' | 'secureConnect', lost: () => void): Promise<Wire> {
  const waiting: Waiting[] = []
  let failure = new Error('the connection was closed')
  return new Promise((resolve, reject) => {
    socket.on('error', (error) => {
      failure = error
    })
    socket.on('close', () => {
      lost()
      reject(failure)
      for (const { reject: giveUp } of waiting.splice(0)) giveUp(failure)
    })
    socket.on(
      'data',
      replies((reply) => waiting.shift()?.resolve(reply)),
    )
    socket.once(ready, () => {
      socket.setNoDelay(true)
      resolve({
        socket,
        send: (command, value) =>
          new Promise((done, fail) => {
            waiting.push({ resolve: done, reject: fail })
            socket.cork()
            socket.write(`${command}\r\n`)
            if (value) socket.write(value)
            if (value) socket.write('\r\n')
            process.nextTick(() => socket.uncork())
          }),
      })
    })
  })
}

/** Return a parser that passes on complete replies: a line, and after `VA <length>` a value. */
function replies(give: (reply: Reply) => void): (bytes: Buffer) => void {
  let parts: Buffer[] = []
  let length = 0
  let needed = 0
  return (bytes) => {
    parts.push(bytes)
    length += bytes.length
    if (length < needed) return
    let rest = Buffer.concat(parts)
    for (needed = 0; needed === 0; ) {
      const end = rest.indexOf('\r\n')
      if (end < 0) break
      const line = rest.subarray(0, end).toString()
      const size = line.startsWith('VA ') ? Number(line.split(' ')[1]) + 2 : 0
      if (rest.length < end + 2 + size) needed = end + 2 + size
      else {
        give({ line, value: rest.subarray(end + 2, end + size) })
        rest = rest.subarray(end + 2 + size)
      }
    }
    parts = [rest]
    length = rest.length
  }
}
