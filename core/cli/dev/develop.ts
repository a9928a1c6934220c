/** `salt-ts dev`: a master and minions with the extensions of a folder, which are loaded again when a file is saved. */
import { existsSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Disposer } from '../../base/disposer.ts'
import { messageOf } from '../../base/errors.ts'
import { counted, shortList } from '../../base/sentence.ts'
import { exitCodes } from '../exit-codes.ts'
import { ImportedFiles } from '../watch/imported-files.ts'
import { LineCompletion } from './completion.ts'
import type { FleetSettings } from './messages.ts'
import { Prompt } from './prompt.ts'
import { Session } from './session.ts'
import { type SavedSources, SourceWatch } from './source-watch.ts'
import { splitLine } from './split-line.ts'
import { TestRuns } from './test-runs.ts'
import { TypeCheck } from './type-check.ts'

export interface DevelopSettings extends FleetSettings {
  /** Whether tests are run, too. */
  readonly test: boolean
}

/** Number of saved files that are named. */
const MAX_NAMES = 3

const HELP = `hello.greet Ada times=2     run a function on all minions
salt 'minion2' test.ping    run salt: targets and all options, such as --out json
salt-run manage.up          run a runner in the process of the master
restart                     start master and minions again; Ctrl-C does so while a function runs
exit                        end, as Ctrl-D and Ctrl-C do`

/** Develop until `exit`, the end of the input, or a signal, and return the exit code: that of the last line that was run. */
export async function develop(settings: DevelopSettings): Promise<number> {
  const disposer = new Disposer()
  const interrupted = onSignal()
  try {
    const development = new Development(settings, await openTools(settings, disposer), disposer)
    return await Promise.race([development.run(), interrupted])
  } finally {
    await disposer.close()
  }
}

/** Resolves with the exit code of Ctrl-C at a signal that asks to end. */
const onSignal = (): Promise<number> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => resolve(exitCodes.interrupted)) // a terminal and npm may both send it
  })

interface Tools {
  readonly session: Session
  readonly prompt: Prompt
  readonly watch: SourceWatch
  readonly imported: ImportedFiles
}

async function openTools(settings: DevelopSettings, disposer: Disposer): Promise<Tools> {
  const temporary = await mkdtemp(path.join(tmpdir(), 'salt-dev-'))
  disposer.defer(() => rm(temporary, { recursive: true, force: true, maxRetries: 5 }))
  process.once('exit', () => rmSync(temporary, { recursive: true, force: true })) // a terminal that is closed ends this process at once
  const imported = disposer.own(await ImportedFiles.open(temporary))
  const session = disposer.own(
    new Session({
      fleet: settings,
      folder: temporary,
      env: imported.env,
      onNote: (text) => prompt.note(text),
      onWords: () => completion.onWritten(),
    }),
  )
  const completion = new LineCompletion(session.completionCache, session.configDir)
  const prompt = disposer.own(new Prompt((line) => completion.complete(line)))
  const watch = disposer.own(await SourceWatch.open(settings.folder, imported))
  return { session, prompt, watch, imported }
}

/** What happens when a line is typed or a file is saved. */
class Development {
  readonly #settings: DevelopSettings
  readonly #tools: Tools
  readonly #disposer: Disposer
  #tests: TestRuns | undefined
  #reloading: Promise<unknown> = Promise.resolve()
  #isRunning = false
  #code: number = exitCodes.ok

  constructor(settings: DevelopSettings, tools: Tools, disposer: Disposer) {
    this.#settings = settings
    this.#tools = tools
    this.#disposer = disposer
  }

  async run(): Promise<number> {
    const { prompt, session } = this.#tools
    if (!(await Promise.race([session.ready, session.failed]))) await session.failed
    this.#begin()
    const onInterrupt = () => {
      prompt.note(
        typeof this.#settings.minions === 'number'
          ? 'Ended by Ctrl-C. The master and the minions start again.'
          : `Ended by Ctrl-C. The job may go on: 'salt-run jobs.active' lists it. The files are sent again.`,
      )
      void session.restart()
    }
    await Promise.race([
      prompt.read({ run: (line) => this.#runLine(line), onInterrupt }),
      this.#follow(),
      session.failed,
    ])
    return process.stdin.isTTY ? exitCodes.ok : this.#code
  }

  #begin(): void {
    const { folder, test } = this.#settings
    const { prompt, session } = this.#tools
    const note = (text: string) => prompt.note(text)
    note(
      `Ready after ${Math.round(process.uptime() * 1000)} ms. Type a function with its arguments, or help. From another terminal:\n` +
        `  salt -c ${session.configDir} '*' test.ping`,
    )
    // The master knows what the functions take once they are loaded: the lines of a script are checked from the first on.
    if (!process.stdin.isTTY) this.#reloading = Promise.race([session.loaded, session.stuck])
    const types = TypeCheck.open(folder, note)
    if (types) this.#disposer.own(types)
    if (!test) return
    this.#tests = this.#disposer.own(new TestRuns(folder, note))
    void this.#tests.run()
  }

  /** Run a typed line. Resolves with false if it asks to exit. */
  async #runLine(line: string): Promise<boolean> {
    const { prompt, session } = this.#tools
    const words = this.#wordsOf(line)
    if (words[0] === 'exit' || words[0] === 'quit') return false
    await this.#reloading
    if (words[0] === 'help') prompt.note(HELP)
    else if (words[0] === 'restart') await session.restart()
    else if (words.length > 0) {
      this.#isRunning = true
      this.#code = await session.run(words)
      this.#isRunning = false
    }
    return true
  }

  #wordsOf(line: string): string[] {
    try {
      return splitLine(line)
    } catch (error) {
      this.#tools.prompt.note(`ERROR: ${messageOf(error)}`)
      this.#code = exitCodes.usage
      return []
    }
  }

  /** Use what is saved, as long as this runs. */
  async #follow(): Promise<never> {
    for (;;) {
      const saved = await this.#tools.watch.next()
      if (saved.sources.length > 0) await this.#useSaved(saved)
      if (saved.tests) void this.#tests?.run()
    }
  }

  /** Load saved files. Resolves before they are loaded if the process is stuck: the next saved file starts another. */
  async #useSaved(saved: SavedSources): Promise<void> {
    const { session, prompt } = this.#tools
    if (session.isStuck) {
      const dropped = this.#isRunning ? ' The line that was typed is dropped.' : ''
      prompt.note(
        `${shortList(saved.sources, MAX_NAMES)} saved. The master and the minions start again.${dropped}`,
      )
      this.#reloading = session.restart()
    } else this.#reloading = this.#reload(saved)
    await Promise.race([this.#reloading, session.stuck])
  }

  async #reload({ sources, grains }: SavedSources): Promise<void> {
    const { prompt, session, watch, imported } = this.#tools
    const start = performance.now()
    await imported.begin()
    const failing = await session.reload(grains)
    if (failing === undefined) return
    const names = shortList(sources, MAX_NAMES)
    const isThere = sources.some((file) => existsSync(path.join(this.#settings.folder, file)))
    if (failing === 0 && !isThere) prompt.note(`${names} removed.`)
    else if (failing === 0) prompt.note(`${names} loaded in ${Math.round(performance.now() - start)} ms.`)
    else
      prompt.note(`${names} ${isThere ? 'saved' : 'removed'}; ${counted(failing, 'file')} cannot be loaded.`)
    await watch.follow()
  }
}
