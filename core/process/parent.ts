import type { Ping, Pong, ProcessMessage } from './child.ts'

export interface ParentSettings<To extends ProcessMessage> {
  onMessage(message: To): void
  /** Called when the parent has ended or closed the channel. */
  onGone(): void
}

/** The channel to the process that started this one. */
export interface Parent<From extends ProcessMessage> {
  /** Send a message. Resolves when it was written, or the channel is closed. */
  send(message: From): Promise<void>
  readonly connected: boolean
}

/** Connect a process that `Child` started to its parent. It receives messages of type `To` and sends those of type `From`. */
export function connectParent<To extends ProcessMessage, From extends ProcessMessage>({
  onMessage,
  onGone,
}: ParentSettings<To>): Parent<From> {
  const send = (message: From | Pong): Promise<void> =>
    new Promise((resolve) => {
      if (process.connected) process.send?.(message, undefined, undefined, () => resolve())
      else resolve()
    })
  process.on('message', (message: To | Ping) => {
    if (message.type === 'ping') void send({ type: 'pong' })
    else onMessage(message as To)
  })
  process.once('disconnect', onGone)
  process.stderr.on('error', () => {}) // fails once the parent has ended
  return {
    send,
    get connected() {
      return process.connected
    },
  }
}

/** Ignore SIGINT, SIGTERM and SIGHUP. The parent decides when this process ends, but a Ctrl-C reaches the whole process group. */
export function ignoreSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
}
