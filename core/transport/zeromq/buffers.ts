import { type Context, capability, type Socket } from 'zeromq'

/**
 * libzmq reads each connection through a buffer of its own and lends parts of it out as messages, so a small message
 * that waits for the garbage collector keeps 18 kB. Messages that are copied and smaller buffers take a master with a
 * thousand minions half the memory. These are draft options: a libzmq without them does the same with more.
 */

const ZMQ_ZERO_COPY_RECV = 10
const ZMQ_IN_BATCH_SIZE = 101
const ZMQ_OUT_BATCH_SIZE = 102

/** Bytes for what is read from and written to each connection. Larger messages do not pass through these buffers. */
export interface BufferSizes {
  readonly read: number
  readonly write: number
}

/** What zeromq.js has, and does not show. */
interface Tunable {
  setBoolOption(option: number, value: boolean): void
  setInt32Option(option: number, value: number): void
}

export function copyMessages(context: Context): void {
  if (capability.draft) (context as unknown as Tunable).setBoolOption(ZMQ_ZERO_COPY_RECV, false)
}

export function keepBuffersSmall(socket: Socket, { read, write }: BufferSizes): void {
  if (!capability.draft) return
  const tunable = socket as unknown as Tunable
  tunable.setInt32Option(ZMQ_IN_BATCH_SIZE, read)
  tunable.setInt32Option(ZMQ_OUT_BATCH_SIZE, write)
}
