/** Many simulated minions of one master, spread over a few processes. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crypto } from './product.ts'
import type { Address } from './simulated-minion.ts'
import type { ToProcess } from './simulated-process.ts'

const entry = fileURLToPath(new URL('simulated-process.ts', import.meta.url))

export interface FleetSettings {
  readonly minions: number
  readonly processes: number
  readonly address: Address
  /** Of the master. */
  readonly pkiDir: string
  /** `known`: the master finds the keys of these minions accepted; `new`: it accepts them as they come. Default: `known`. */
  readonly keys?: 'known' | 'new'
}

export class Fleet {
  readonly size: number
  readonly #children: readonly ChildProcess[]
  /** Rejects when one of them ends. */
  readonly #ended: Promise<never>

  private constructor(size: number, children: readonly ChildProcess[]) {
    this.size = size
    this.#children = children
    this.#ended = Promise.race(children.map((child) => once(child, 'exit'))).then(([code]) => {
      throw new Error(`A process of simulated minions ended (${code}).`)
    })
    this.#ended.catch(() => {}) // told to whoever waits for an answer
  }

  /** Resolves when all have signed in and listen. */
  static async open({ minions, processes, address, pkiDir, keys = 'known' }: FleetSettings): Promise<Fleet> {
    const key = await crypto.PrivateKey.generate(2048)
    const name = keys === 'known' ? 'sim' : 'new'
    const ids = Array.from({ length: minions }, (_, index) => `${name}-${index}`)
    if (keys === 'known') await acceptKeys(pkiDir, ids, key.publicKey.pem)
    const children = Array.from({ length: processes }, () => fork(entry, { execArgv: ['--import', 'tsx'] }))
    const fleet = new Fleet(minions, children)
    const share = (index: number) => ids.filter((_, place) => place % processes === index)
    await fleet.#tell((index) => ({ do: 'open', ids: share(index), pem: key.pem, address }))
    return fleet
  }

  /** Encrypt beforehand what all minions return to these jobs; gives how many returns that is. */
  prepare(jobs: readonly string[], bytes: number): Promise<number> {
    return this.#tell(() => ({ do: 'prepare', jobs, bytes }))
  }

  /** Send them; gives returns per second. Throws unless every single one was acknowledged. */
  async send(atOnce: number): Promise<number> {
    const started = performance.now()
    const sent = await this.#tell(() => ({ do: 'send', atOnce: Math.ceil(atOnce / this.#children.length) }))
    const seconds = (performance.now() - started) / 1000
    const acknowledged = await this.#tell(() => ({ do: 'check' }))
    if (acknowledged !== sent)
      throw new Error(`${sent - acknowledged} of ${sent} returns were not acknowledged`)
    return sent / seconds
  }

  /** Return the number of minions that have come back to their master `timesBack` times. */
  countBack(timesBack: number): Promise<number> {
    return this.#tell(() => ({ do: 'count', timesBack }))
  }

  close(): void {
    for (const child of this.#children) if (child.connected) child.disconnect()
  }

  /** Have every process do something; gives the sum of their answers. */
  async #tell(order: (index: number) => ToProcess): Promise<number> {
    const answers = this.#children.map(async (child, index) => {
      child.send(order(index))
      const [answer] = await Promise.race([once(child, 'message'), this.#ended])
      return answer as number
    })
    return (await Promise.all(answers)).reduce((sum, answer) => sum + answer, 0)
  }
}

async function acceptKeys(pkiDir: string, ids: readonly string[], pem: string): Promise<void> {
  const folder = join(pkiDir, 'minions')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await Promise.all(ids.map((id) => writeFile(join(folder, id), pem)))
}
