import { SourceMap } from 'node:module'
import { WebSocket } from 'ws'

interface Script {
  readonly scriptId: string
  readonly url: string
  readonly sourceMapURL: string
}
export interface Place {
  readonly file: string
  readonly line: number
}

/** A debugger of Node, which maps places of sources and of compiled code to each other, as editors do. */
export class Debugger {
  readonly #socket: WebSocket
  readonly #answers = new Map<number, (result: never) => void>()
  readonly #scripts: Script[] = []
  readonly #paused: Promise<Place>
  #map: SourceMap | undefined
  #sent = 0

  static async connect(url: string): Promise<Debugger> {
    const socket = new WebSocket(url)
    await new Promise((done, fail) => socket.once('open', done).once('error', fail))
    const opened = new Debugger(socket)
    await opened.#send('Debugger.enable')
    return opened
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket
    this.#paused = new Promise((resolve) => {
      socket.on('message', (data) => {
        const { id, method, params, result } = JSON.parse(String(data))
        this.#answers.get(id)?.(result as never)
        if (method === 'Debugger.scriptParsed') this.#scripts.push(params)
        if (method === 'Debugger.paused') resolve(this.#sourceOf(params.callFrames[0].location))
      })
    })
  }

  /** Set a breakpoint at the first place of a line, from 1, in all versions of a file: each minion has loaded its own. */
  async stopAt(file: string, line: number): Promise<void> {
    const script = this.#scripts.findLast(({ url }) => url.startsWith(`file://${file}`))
    const [, encoded = ''] = script?.sourceMapURL.split('base64,') ?? []
    this.#map = new SourceMap(JSON.parse(Buffer.from(encoded, 'base64').toString()))
    const { scriptSource } = await this.#send<{ scriptSource: string }>('Debugger.getScriptSource', {
      scriptId: script?.scriptId,
    })
    const urlRegex = `^file://${file.replaceAll('.', '\\.')}`
    const columns = Array.from(scriptSource.split('\n')[0]!, (_, column) => column)
    const columnNumber = columns.find(
      (column) => this.#sourceOf({ lineNumber: 0, columnNumber: column }).line === line,
    )
    await this.#send('Debugger.setBreakpointByUrl', { urlRegex, lineNumber: 0, columnNumber })
  }

  /** Wait for the stop, and go on. */
  async stopped(): Promise<Place> {
    const place = await this.#paused
    await this.#send('Debugger.resume')
    return place
  }

  close(): void {
    this.#socket.close()
  }

  #sourceOf({ lineNumber, columnNumber }: { lineNumber: number; columnNumber: number }): Place {
    const found = this.#map?.findEntry(lineNumber, columnNumber)
    if (!found || !('originalSource' in found)) return { file: '', line: 0 }
    return { file: found.originalSource, line: found.originalLine + 1 }
  }

  #send<T>(method: string, params: object = {}): Promise<T> {
    const id = ++this.#sent
    this.#socket.send(JSON.stringify({ id, method, params }))
    return new Promise((resolve) => this.#answers.set(id, resolve as (result: never) => void))
  }
}
