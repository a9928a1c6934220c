import { existsSync } from 'node:fs'
import path from 'node:path'
import { Disposer } from '../../base/disposer.ts'
import { SaltError } from '../../base/errors.ts'
import { openLoader } from '../../loader/index.ts'
import { kinds } from '../../loader/kinds.ts'
import { createLogger, type Logger } from '../../log/index.ts'
import { type ClusterParts, openParts } from '../../testing/cluster-parts.ts'
import { writeTypes } from '../authoring/write-types.ts'
import Salt from '../commands/salt.ts'
import { exitCodes } from '../exit-codes.ts'
import { printNote } from '../output/console.ts'
import { exitCodeFrom } from '../program/program.ts'
import type { FleetSettings } from './messages.ts'
import { runRunner } from './run-runner.ts'

/** The master and the minions of `salt-ts dev`, with their jobs, in this process. Programs on this host reach the master. */
export class Fleet {
  readonly #parts: ClusterParts
  readonly #settings: FleetSettings
  readonly #log: Logger
  readonly #disposer: Disposer

  /** Start them; `root` is an empty folder for their files. */
  static async open(root: string, settings: FleetSettings): Promise<Fleet> {
    const { folder, minions, logLevel } = settings
    const log = openLog(logLevel)
    const disposer = new Disposer()
    const setup = {
      minions: idsOf(minions),
      moduleDirs: [folder],
      master: { file_roots: { base: [path.join(folder, 'files')] } },
    }
    try {
      const parts = await openParts(setup, disposer, { root, transport: 'zeromq', minionLog: log })
      return new Fleet(parts, settings, log, disposer)
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

  /** Run what was typed, print its result and return the exit code that a program would have. */
  run([first = '', ...rest]: readonly string[]): Promise<number> {
    const { config, stores } = this.#parts
    const { out } = this.#settings
    if (OTHER_PROGRAMS.includes(first)) return Promise.resolve(refuseProgram(first, config.config_dir))
    if (first === 'salt-run') return runRunner(rest, { config, stores, log: this.#log, out })
    const given = ['-c', config.config_dir, ...(out === undefined ? [] : ['--out', out])]
    return exitCodeFrom(Salt, first === 'salt' ? [...given, ...rest] : [...given, '*', first, ...rest])
  }

  /** Use changed files from now on. Resolves when minions and master know them. */
  async reload(grains: boolean): Promise<void> {
    const fun = grains ? 'saltutil.refresh_grains' : 'saltutil.refresh_modules'
    await this.#parts.client.cmd({ tgt: '*', fun })
    await this.#loadOthers()
  }

  /** Write the types of the functions. Returns a sentence about it; undefined if there is nothing new. */
  async writeTypes(): Promise<string | undefined> {
    try {
      const [sentence = ''] = (await writeTypes(this.#settings.folder)).split('\n')
      return sentence.includes(' written: ') ? sentence : undefined
    } catch (error) {
      if (SaltError.is(error) && error.code === 'FUNCTION_NOT_FOUND') return undefined // no modules
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#disposer.close()
  }

  /** Load the author's files of all kinds but modules, which the minions load, so that those that fail are known. */
  async #loadOthers(): Promise<void> {
    const { config } = this.#parts
    const { folder } = this.#settings
    for (const { name, folders } of kinds.values()) {
      const isThere = folders
        .flatMap((own) => [own, `_${own}`])
        .some((own) => existsSync(path.join(folder, own)))
      if (name !== 'modules' && isThere)
        await openLoader(name, { config: { ...config }, log: this.#log }).broken(folder)
    }
  }
}

/** Programs that cannot be typed at the prompt. */
const OTHER_PROGRAMS = ['salt-call', 'salt-key', 'salt-ts']

function refuseProgram(program: string, configDir: string): number {
  const [how, word] = {
    'salt-key': [`salt-key -c ${configDir}`, 'salt-run wheel key.list_all'],
  }[program] ?? [program, 'salt or salt-run']
  printNote(`ERROR: ${program} cannot be typed here. Run '${how}' in another terminal, or type ${word}.`)
  return exitCodes.usage
}

/** `minion`, or `minion1`, `minion2`, … */
const idsOf = (count: number): string[] =>
  count === 1 ? ['minion'] : Array.from({ length: count }, (_, index) => `minion${index + 1}`)

/** Files that fail to load are shown otherwise. */
const openLog = (level: string): Logger =>
  createLogger({
    program: 'salt-minion',
    console: { level },
    formats: { log_granular_levels: { 'salt.loaded.ext': 'info', 'salt.loader': 'critical' } },
  })
