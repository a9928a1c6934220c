import type { Context, Socket } from 'zeromq'

/**
 * libzmq reads each connection through a separate buffer and returns parts of it as messages, so a small message that waits
 * for the garbage collector keeps 18 kB in memory. With copied messages and smaller buffers a master with a thousand minions
 * takes half the memory. These are draft options (`capability.draft`); a libzmq without them works the same, but takes more memory.
 */

const ZMQ_ZERO_COPY_RECV = 10
const ZMQ_IN_BATCH_SIZE = 101
const ZMQ_OUT_BATCH_SIZE = 102

/** Sizes of the buffers of each connection, in bytes. Larger messages do not pass through these buffers. */
export interface BufferSizes {
  readonly read: number
  readonly write: number
}

/** Methods that zeromq.js has, but does not declare. */
interface Tunable {
  setBoolOption(option: number, value: boolean): void
  setInt32Option(option: number, value: number): void
}

export function disableZeroCopyReceive(context: Context): void {
  ;(context as unknown as Tunable).setBoolOption(ZMQ_ZERO_COPY_RECV, false)
}

export function setBufferSizes(socket: Socket, { read, write }: BufferSizes): void {
  const tunable = socket as unknown as Tunable
  tunable.setInt32Option(ZMQ_IN_BATCH_SIZE, read)
  tunable.setInt32Option(ZMQ_OUT_BATCH_SIZE, write)
}
