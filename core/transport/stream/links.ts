import { setTimeout } from 'node:timers/promises'
import { admitConnections } from '../admission.ts'
import type { ServerSettings } from '../contract.ts'
import type { Link, LinkListener, Listening, StreamProtocol } from './contract.ts'

/** How long queued messages are still sent after a server is closed. */
const LINGER_MS = 1_000
/** Interval of checks whether the queued messages have been sent. */
const LINGER_CHECK_MS = 5

/** The connections of a server. */
export interface Links extends Pick<Listening, 'port'> {
  /** Stop accepting connections, send what is queued, and close all connections. */
  close(): Promise<void>
}

/**
 * Listen on a port, and keep the connections. New ones are refused while this process may open no more files; then `onFull`
 * is called, which may close some.
 */
export async function openLinks(
  protocol: StreamProtocol,
  settings: ServerSettings,
  accept: (link: Link) => LinkListener,
  onFull: () => void = () => {},
): Promise<Links> {
  const all = new Set<Link>()
  const server = await protocol.listen(settings, (link) => {
    all.add(link)
    const listener = accept(link)
    return {
      ...listener,
      onClose(error) {
        all.delete(link)
        listener.onClose(error)
      },
    }
  })
  const gate = {
    get isRefusing() {
      return server.isRefusing
    },
    refuse() {
      server.isRefusing = true
      onFull()
    },
    accept() {
      server.isRefusing = false
    },
    close() {},
  }
  const admission = admitConnections({ ...settings, port: server.port }, () => gate)
  return {
    port: server.port,
    async close() {
      admission.close()
      server.close()
      for (const link of all) link.end()
      for (let waited = 0; all.size > 0 && waited < LINGER_MS; waited += LINGER_CHECK_MS)
        await setTimeout(LINGER_CHECK_MS)
      for (const link of all) link.destroy()
    },
  }
}
