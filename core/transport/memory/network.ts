import { addressInUse } from '../port-holder.ts'

/** A network in memory: the servers of one kind, by address. */
export class MemoryNetwork<Server> {
  readonly #servers = new Map<number, { readonly host: string; readonly server: Server }>()
  readonly #watchers = new Set<() => void>()

  /**
   * Make a server reachable. Port 0 selects a free one.
   * @throws SaltError ADDRESS_IN_USE
   */
  listen(host: string, port: number, server: Server): { readonly port: number; close(): void } {
    const chosen = port === 0 ? takeFreePort() : takePort(host, port)
    this.#servers.set(chosen, { host, server })
    for (const watcher of [...this.#watchers]) watcher()
    let open = true
    const close = () => {
      if (!open) return
      open = false
      this.#servers.delete(chosen)
      taken.delete(chosen)
    }
    return { port: chosen, close }
  }

  /** Return the server at an address; undefined if nothing listens there. */
  find(host: string, port: number): Server | undefined {
    const found = this.#servers.get(port)
    return found && (everywhere.has(found.host) || sameHost(found.host, host)) ? found.server : undefined
  }

  /** Call a function after each start of a server. Returns a function that ends this. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }
}

const everywhere = new Set(['0.0.0.0', '::', '*'])
const loopback = new Set(['127.0.0.1', '::1', 'localhost'])

const sameHost = (a: string, b: string) => a === b || (loopback.has(a) && loopback.has(b))

/** Ports in use by servers of any kind. */
const taken = new Set<number>()
const FIRST_FREE_PORT = 49_152
let nextPort = FIRST_FREE_PORT

function takeFreePort(): number {
  while (taken.has(nextPort)) nextPort++
  taken.add(nextPort)
  return nextPort++
}

function takePort(host: string, port: number): number {
  if (taken.has(port)) throw addressInUse(host, port, { pid: process.pid, command: 'this process' })
  taken.add(port)
  return port
}
