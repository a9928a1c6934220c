import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { deferred } from '../../base/deferred.ts'
import { SaltError } from '../../base/errors.ts'
import { LocalClient, untyped } from '../../client/index.ts'
import { loadMasterConfig } from '../../config/index.ts'
import { syncedFilesBelow } from '../../fileserver/sync/place.ts'
import { syncTypesOf } from '../../fileserver/sync/types.ts'
import { openLoader } from '../../loader/index.ts'
import type { Logger } from '../../log/index.ts'
import { isTestFile } from '../authoring/run-tests.ts'
import Salt from '../commands/salt.ts'
import SaltRun from '../commands/salt-run.ts'
import { exitCodeFrom } from '../program/program.ts'
import { type DevFleet, loadHere, openLog } from './dev-fleet.ts'
import type { FleetSettings, RealFleet } from './messages.ts'

/** Seconds that the minion has for each step. */
const STEP_SECONDS = 15

interface Facts {
  readonly fleet: RealFleet
  readonly settings: FleetSettings
  /** `extension_modules` of the minion. */
  readonly directory: string
  isLoadable(): boolean
}

/**
 * A minion of a real master. The author's files are copied into its `extension_modules`, as `saltutil.sync_all` does with those of the
 * master, which are not changed. At the end they are removed, and a sync brings back what the master has.
 */
export class RealMinion implements DevFleet {
  readonly #client: LocalClient
  readonly #facts: Facts
  readonly #log: Logger
  /** Contents that the minion has, by path in its `extension_modules`. */
  readonly #sent = new Map<string, Buffer>()
  readonly #firstSent = deferred()

  /** `isLoadable` is asked after files were loaded in this process: files that fail are not sent. */
  static async open(
    fleet: RealFleet,
    settings: FleetSettings,
    isLoadable: () => boolean,
  ): Promise<RealMinion> {
    const { config } = loadMasterConfig({ configDir: fleet.configDir })
    const client = await LocalClient.connect(config)
    try {
      const ask = (fun: string, name: string) => call(client, fleet, fun, [name])
      if (!(await ask('grains.get', 'nodeversion')))
        throw refusal(`${fleet.minion} runs Python Salt, which does not load TypeScript.`)
      const directory = String(await ask('config.get', 'extension_modules'))
      return new RealMinion(client, { fleet, settings, directory, isLoadable })
    } catch (error) {
      await client.close()
      throw error
    }
  }

  private constructor(client: LocalClient, facts: Facts) {
    this.#client = client
    this.#facts = facts
    this.#log = openLog(facts.settings.logLevel)
  }

  get configDir(): string {
    return this.#facts.fleet.configDir
  }

  async run([first = '', ...rest]: readonly string[]): Promise<number> {
    await this.#firstSent.promise
    const { fleet, settings } = this.#facts
    const { configDir, minion } = fleet
    const { out } = settings
    const given = ['-c', configDir, ...(out === undefined ? [] : ['--out', out])]
    if (first === 'salt-run') return exitCodeFrom(SaltRun, [...given, ...rest])
    return exitCodeFrom(
      Salt,
      first === 'salt' ? [...given, ...rest] : [...given, '-L', minion, first, ...rest],
    )
  }

  /** Send changed files, unless one of them cannot be loaded here. */
  async reload(grains: boolean): Promise<void> {
    try {
      const { settings, isLoadable } = this.#facts
      const { folder } = settings
      const loading = { config: { module_dirs: [folder] }, log: this.#log }
      await openLoader('modules', loading).reload()
      await loadHere(folder, loading)
      if (!isLoadable()) return
      await this.#send(extensionsIn(folder))
      await this.#call(grains ? 'saltutil.refresh_grains' : 'saltutil.refresh_modules')
    } finally {
      this.#firstSent.resolve()
    }
  }

  async close(): Promise<void> {
    const hasSent = this.#sent.size > 0
    for (const name of this.#sent.keys()) await this.#remove(name)
    if (hasSent) await this.#call('saltutil.sync_all')
    await this.#client.close()
  }

  async #send(files: ReadonlyMap<string, string>): Promise<void> {
    for (const [name, file] of files) {
      const content = await readFile(file)
      if (this.#sent.get(name)?.equals(content)) continue
      const chunk = content.toString('base64')
      await this.#call('cp.recv_chunked', [path.join(this.#facts.directory, name), chunk, false, false])
      this.#sent.set(name, content)
    }
    for (const name of this.#sent.keys()) if (!files.has(name)) await this.#remove(name)
  }

  async #remove(name: string): Promise<void> {
    this.#sent.delete(name)
    await this.#call('file.remove', [path.join(this.#facts.directory, name)])
  }

  #call(fun: string, args: readonly unknown[] = []): Promise<unknown> {
    return call(this.#client, this.#facts.fleet, fun, args)
  }
}

async function call(
  client: LocalClient,
  { minion }: RealFleet,
  fun: string,
  arg: readonly unknown[],
): Promise<unknown> {
  const request = { tgt: [minion], tgtType: 'list', fun: untyped(fun), arg, timeout: STEP_SECONDS }
  const result = (await client.cmd(request))[minion]
  if (result?.state === 'returned') return result.return
  if (result?.state === 'failed') throw refusal(`${fun} failed on ${minion}: ${result.return}`)
  throw refusal(`${minion}: ${result?.reason ?? 'The master has no accepted key for this id.'}`)
}

const refusal = (message: string) => new SaltError('COMMAND_EXECUTION', message)

/** List the author's files that minions load: paths by path in `extension_modules`. */
function extensionsIn(folder: string): Map<string, string> {
  const found = new Map<string, string>()
  const folders = syncTypesOf('minion').flatMap(({ folders, kind }) => (kind ? folders : []))
  for (const name of folders)
    for (const source of [name, `_${name}`])
      for (const file of syncedFilesBelow(path.join(folder, source)))
        if (!isTestFile(file) && !file.endsWith('.d.ts'))
          found.set(path.join(name, file), path.join(folder, source, file))
  return found
}
