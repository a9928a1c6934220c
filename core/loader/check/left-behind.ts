/** What imports leave behind that keeps a process alive: timers, servers, connections. */
import type { LoadingFile } from '../files/load-watch.ts'
import { type Finding, finding } from './rules.ts'
import { SourceText } from './source-text.ts'

/** What keeps a process alive, by the names of Node. */
const HELD: ReadonlyMap<string, string> = new Map([
  ['Timeout', 'a timer'],
  ['TCPServerWrap', 'a server'],
  ['TCPSocketWrap', 'a connection'],
  ['TCPWRAP', 'a connection'],
  ['UDPWRAP', 'a UDP socket'],
  ['ProcessWrap', 'a child process'],
  ['FSEventWrap', 'a watched file'],
  ['StatWatcher', 'a watched file'],
  ['Worker', 'a worker'],
])

const STARTS =
  /(?<![\w$])(?:setInterval|setTimeout|createServer|createSocket|connect|spawn|exec|fork|watch|watchFile|Worker|listen)\s*\(/g

/** Compares what keeps this process alive before and after each file is loaded. */
export class LeftBehind {
  #loading: string | undefined
  /** The file that was loaded last, and what was active before. */
  #last: { readonly path: string; readonly before: readonly string[] } | undefined
  /** Path of a file → what it has left behind, in words. */
  readonly #left = new Map<string, string>()

  heard({ path, over }: LoadingFile): void {
    if (over && path === this.#loading) this.#loading = undefined
    if (over || this.#loading !== undefined) return // another file has this one loaded
    this.#compare()
    this.#loading = path
    this.#last = { path, before: activeResources() }
  }

  /** Compare when the loader has cleared its own timer. */
  #compare(): void {
    if (!this.#last) return
    const { path, before } = this.#last
    const after = activeResources()
    const count = (list: readonly string[], name: string) => list.filter((one) => one === name).length
    const left = after.find((name) => count(after, name) > count(before, name))
    if (left !== undefined) this.#left.set(path, HELD.get(left) as string)
    this.#last = undefined
  }

  async findings(paths: readonly string[]): Promise<Finding[]> {
    this.#compare()
    const left = [...this.#left].filter(([path]) => paths.includes(path))
    const found = await Promise.all(
      left.map(async ([path, what]) => {
        const source = await SourceText.read(path)
        const place = source.place(source.topLevel(STARTS))
        const message = `The import leaves ${what} behind, which keeps its process alive; start it in a function, and end it there.`
        return source.ignores('keeps-alive', place.line) ? [] : [finding('keeps-alive', place, message)]
      }),
    )
    return found.flat()
  }
}

const activeResources = (): string[] => process.getActiveResourcesInfo().filter((name) => HELD.has(name))
