/** What returners and modules use of MongoDB's protocol (OP_MSG, and OP_QUERY for the first word), in memory. */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { BSON } from 'mongodb'

type Fields = Record<string, unknown>

const OP_REPLY = 1
const OP_QUERY = 2004
const OP_MSG = 2013

interface Change {
  readonly q: Fields
  readonly u: Fields
  readonly upsert?: boolean
  readonly limit?: number
}

/** `more` are further commands by name, which may throw. */
export async function mongodbDouble(more: Readonly<Record<string, (command: Fields) => Fields>> = {}) {
  const collections = new Map<string, Fields[]>()
  const sockets = new Set<Socket>()
  const documents = (name: unknown) => {
    const found = collections.get(String(name)) ?? []
    collections.set(String(name), found)
    return found
  }

  const commands = new Map<string, (command: Fields) => Fields>([
    ['hello', hello],
    ['ismaster', hello],
    ['endSessions', () => ({})],
    ['createIndexes', () => ({})],
    [
      'update',
      ({ update, updates }) => {
        const found = documents(update)
        let nModified = 0
        for (const { q, u, upsert } of updates as Change[]) {
          const index = found.findIndex((document) => matches(document, q))
          if (index >= 0) {
            found[index] = changed(found[index] ?? {}, u)
            nModified++
          } else if (upsert) found.push(changed({ ...q }, u))
        }
        return { n: (updates as unknown[]).length, nModified }
      },
    ],
    [
      'delete',
      ({ delete: name, deletes }) => {
        const found = documents(name)
        let n = 0
        for (const { q, limit } of deletes as Change[]) {
          const chosen = found.filter((document) => matches(document, q)).slice(0, limit || found.length)
          found.splice(0, found.length, ...found.filter((document) => !chosen.includes(document)))
          n += chosen.length
        }
        return { n }
      },
    ],
    [
      'find',
      ({ find, filter, sort, limit }) => {
        const found = documents(find).filter((document) => matches(document, (filter ?? {}) as Fields))
        for (const [field, direction] of Object.entries((sort ?? {}) as Record<string, number>))
          found.sort((one, other) => direction * (String(one[field]) < String(other[field]) ? -1 : 1))
        return {
          cursor: {
            id: BSON.Long.ZERO,
            ns: `salt.${find}`,
            firstBatch: found.slice(0, Number(limit) || found.length),
          },
        }
      },
    ],
    [
      'insert',
      ({ insert, documents: given }) => {
        documents(insert).push(...(given as Fields[]))
        return { n: (given as Fields[]).length }
      },
    ],
    ...Object.entries(more),
    [
      'distinct',
      ({ distinct, key }) => ({ values: [...new Set(documents(distinct).map((each) => each[String(key)]))] }),
    ],
  ])

  function answer(command: Fields): Fields {
    const [name = ''] = Object.keys(command)
    const run = commands.get(name) ?? (name === 'isMaster' ? hello : undefined)
    try {
      return run ? { ok: 1, ...run(command) } : { ok: 0, errmsg: `no such command: '${name}'`, code: 59 }
    } catch (cause) {
      return { ok: 0, errmsg: (cause as Error).message, code: 1 }
    }
  }

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    let pending = Buffer.alloc(0)
    socket.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk])
      while (pending.length >= 4 && pending.length >= pending.readInt32LE(0)) {
        const message = pending.subarray(0, pending.readInt32LE(0))
        pending = pending.subarray(message.length)
        socket.write(replyTo(message, answer))
      }
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    port: (server.address() as AddressInfo).port,
    documents,
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

const hello = (): Fields => ({
  helloOk: true,
  isWritablePrimary: true,
  ismaster: true,
  maxBsonObjectSize: 16 * 1024 * 1024,
  maxMessageSizeBytes: 48_000_000,
  maxWriteBatchSize: 100_000,
  minWireVersion: 0,
  maxWireVersion: 21,
})

function replyTo(message: Buffer, answer: (command: Fields) => Fields): Buffer {
  const [id, operation] = [message.readInt32LE(4), message.readInt32LE(12)]
  if (operation === OP_QUERY) {
    const start = message.indexOf(0, 20) + 1 + 8
    const body = BSON.serialize(
      answer(BSON.deserialize(message.subarray(start, start + message.readInt32LE(start)))),
    )
    const flags = Buffer.alloc(20)
    flags.writeInt32LE(1, 16)
    return framed(id, OP_REPLY, flags, body)
  }
  return framed(id, OP_MSG, Buffer.alloc(5), BSON.serialize(answer(commandIn(message))))
}

/** A document, and lists of them that came in sections of their own. */
function commandIn(message: Buffer): Fields {
  const command: Fields = {}
  for (let at = 20; at < message.length; ) {
    const kind = message[at]
    const size = message.readInt32LE(at + 1)
    const section = message.subarray(at + 1, at + 1 + size)
    at += 1 + size
    if (kind === 0) Object.assign(command, BSON.deserialize(section))
    else {
      const end = section.indexOf(0, 4)
      const list: Fields[] = []
      for (let from = end + 1; from < size; from += section.readInt32LE(from))
        list.push(BSON.deserialize(section.subarray(from, from + section.readInt32LE(from))))
      command[section.toString('utf8', 4, end)] = list
    }
  }
  return command
}

function framed(to: number, operation: number, ...parts: readonly Uint8Array[]): Buffer {
  const header = Buffer.alloc(16)
  header.writeInt32LE(16 + parts.reduce((sum, { length }) => sum + length, 0), 0)
  header.writeInt32LE(to, 8)
  header.writeInt32LE(operation, 12)
  return Buffer.concat([header, ...parts])
}

const matches = (document: Fields, wanted: Fields): boolean =>
  Object.entries(wanted).every(([field, value]) => {
    const before = (value as { $lt?: Date } | null)?.$lt
    return before ? (document[field] as Date) < before : isDeepStrictEqual(document[field], value)
  })

function changed(document: Fields, change: Fields): Fields {
  if (!Object.keys(change).some((name) => name.startsWith('$'))) return { _id: document._id, ...change }
  const after = { ...document, ...(change.$set as Fields | undefined) }
  for (const [field, added] of Object.entries(
    (change.$addToSet ?? {}) as Record<string, { $each: unknown[] }>,
  ))
    after[field] = [...new Set([...((after[field] as unknown[] | undefined) ?? []), ...added.$each])]
  return after
}
