import { boolean } from '@oclif/core/flags'
import { parse } from '@oclif/core/parser'
import type { Log } from '../../author/context.ts'
import { currentUser } from '../../base/current-user.ts'
import { messageOf } from '../../base/errors.ts'
import { RunnerClient, WheelClient } from '../../client/index.ts'
import type { MasterStores } from '../../client/services/master-services.ts'
import type { MasterConfig } from '../../config/index.ts'
import { typedWords } from '../../loader/calls/typed.ts'
import { parseWords } from '../../loader/calls/words.ts'
import { exitCodeOf, UsageError } from '../exit-codes.ts'
import { docFlag, outputFlags } from '../flags.ts'
import { printNote } from '../output/console.ts'
import { showDocs } from '../output/docs.ts'
import { openPrinter } from '../output/printer.ts'
import { printRunResult, progressLine } from '../output/run-result.ts'
import { runnerDocs } from '../output/runner-docs.ts'
import { stdoutToStderr } from '../output/stdout-to-stderr.ts'
import { positionalWords } from '../program/positional-words.ts'

export interface RunnerSettings {
  readonly config: MasterConfig
  /** The open stores of the master. */
  readonly stores: MasterStores
  readonly log: Log
  /** The outputter, unless the words name another. */
  readonly out: string | undefined
}

const FLAGS = {
  ...outputFlags,
  doc: docFlag('Show the documentation of one function, or of all.'),
  help: boolean({ char: 'h', description: 'The same.' }),
}

/** Run a runner in this process, so that a debugger stops in it, print its result and return the exit code. */
export async function runRunner(words: readonly string[], settings: RunnerSettings): Promise<number> {
  try {
    return await run(words, settings)
  } catch (error) {
    printNote(`ERROR: ${messageOf(error)}`)
    return exitCodeOf(error)
  }
}

async function run(words: readonly string[], { config, stores, log, out }: RunnerSettings): Promise<number> {
  const { flags, raw } = await parse([...words], { flags: FLAGS, strict: false })
  const [first, ...rest] = await positionalWords(raw, false)
  const isWheel = first === 'wheel'
  const [fun, ...typed] = isWheel ? rest : first === undefined ? [] : [first, ...rest]
  const printerFor = (chosen: string | undefined) =>
    openPrinter({ ...flags, out: chosen }, { ...config }, log)
  if (flags.doc || flags.help) {
    const docs = await runnerDocs({ config: { ...config }, log }, isWheel, fun)
    return showDocs(docs, await printerFor(flags.out))
  }
  if (fun === undefined) throw new UsageError('Name a runner: salt-run manage.up')
  const printer = await printerFor(flags.out ?? out)
  const Client = isWheel ? WheelClient : RunnerClient
  const client = new Client({ config, stores, log, user: currentUser() })
  try {
    const { args, kwargs } = parseWords(typed)
    const onProgress = (data: object) => printNote(progressLine(data))
    const call = () => client.run(fun, args, kwargs, { words: typedWords(typed), onProgress })
    return await printRunResult(await stdoutToStderr(call), printer)
  } finally {
    await client.close()
  }
}
