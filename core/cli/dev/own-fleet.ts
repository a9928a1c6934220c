import path from 'node:path'
import { Disposer } from '../../base/disposer.ts'
import type { Logger } from '../../log/index.ts'
import { type ClusterParts, openParts } from '../../testing/cluster-parts.ts'
import Salt from '../commands/salt.ts'
import { exitCodeFrom } from '../program/program.ts'
import { type DevFleet, loadHere, openLog } from './dev-fleet.ts'
import type { FleetSettings } from './messages.ts'
import { runRunner } from './run-runner.ts'

/** The master and the minions of `salt-ts dev`, with their jobs, in this process. Programs on this host reach the master. */
export class OwnFleet implements DevFleet {
  readonly #parts: ClusterParts
  readonly #settings: FleetSettings
  readonly #log: Logger
  readonly #disposer: Disposer

  /** Start so many minions; `root` is an empty folder for the files of all. */
  static async open(root: string, minions: number, settings: FleetSettings): Promise<OwnFleet> {
    const { folder, logLevel } = settings
    const log = openLog(logLevel)
    const disposer = new Disposer()
    const setup = {
      minions: idsOf(minions),
      moduleDirs: [folder],
      master: { file_roots: { base: [path.join(folder, 'files')] } },
    }
    try {
      const parts = await openParts(setup, disposer, { root, transport: 'zeromq', minionLog: log })
      return new OwnFleet(parts, settings, log, disposer)
    } catch (error) {
      await disposer.close()
      throw error
    }
  }

  private constructor(parts: ClusterParts, settings: FleetSettings, log: Logger, disposer: Disposer) {
    this.#parts = parts
    this.#settings = settings
    this.#log = log
    this.#disposer = disposer
  }

  get configDir(): string {
    return this.#parts.config.config_dir
  }

  async run([first = '', ...rest]: readonly string[]): Promise<number> {
    const { config, stores } = this.#parts
    const { out } = this.#settings
    if (first === 'salt-run') return runRunner(rest, { config, stores, log: this.#log, out })
    const given = ['-c', config.config_dir, ...(out === undefined ? [] : ['--out', out])]
    return exitCodeFrom(Salt, first === 'salt' ? [...given, ...rest] : [...given, '*', first, ...rest])
  }

  async reload(grains: boolean): Promise<void> {
    const fun = grains ? 'saltutil.refresh_grains' : 'saltutil.refresh_modules'
    await this.#parts.client.cmd({ tgt: '*', fun })
    const { folder } = this.#settings
    await loadHere(folder, { config: { ...this.#parts.config }, log: this.#log, except: ['modules'] }) // minions load those
  }

  async close(): Promise<void> {
    await this.#disposer.close()
  }
}

/** `minion`, or `minion1`, `minion2`, … */
const idsOf = (count: number): string[] =>
  count === 1 ? ['minion'] : Array.from({ length: count }, (_, index) => `minion${index + 1}`)
