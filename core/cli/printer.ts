/** Values → text through the outputter plugins, to standard output or a file. */
import { once } from 'node:events'
import type { Log } from '../author/context.ts'
import type { OutputOptions, Outputter } from '../author/kinds.ts'
import { closest } from '../base/closest.ts'
import { messageOf } from '../base/errors.ts'
import { type Loader, openLoader } from '../loader/index.ts'
import { kindOf } from '../loader/kind-of.ts'
import { gatherOutput, makeRoom, tell } from './console.ts'
import { UsageError } from './exit-codes.ts'
import { openOutputFile } from './output-file.ts'
import { outputOptions } from './output-options.ts'

export interface OutputFlags {
  readonly out?: string | undefined
  readonly 'out-indent'?: string | undefined
  readonly 'out-file'?: string | undefined
  readonly 'out-file-append'?: boolean
  readonly 'no-color'?: boolean
  readonly 'force-color'?: boolean
}

export interface Printed {
  /** The outputter the function asks for; `--out` wins. */
  readonly outputter?: string | undefined
  /** Not 0: the value is that of a failure. */
  readonly retcode?: number
}

export interface Printer {
  /** The outputter that was asked for on the command line. */
  readonly chosen: string | undefined
  print(value: unknown, options?: Printed): Promise<void>
}

type Config = Readonly<Record<string, unknown>>

/** Throws UsageError for an outputter that does not exist, before anything is done. */
export async function openPrinter(flags: OutputFlags, config: Config, log: Log): Promise<Printer> {
  const loader = openLoader('outputters', { config, log })
  const chosen = flags.out === 'text' ? 'txt' : flags.out
  const chosenOutputter = chosen === undefined ? undefined : await chosenPlugin(loader, chosen)
  const options = await outputOptions(flags, config)
  const write = openSink(flags)
  return {
    chosen,
    async print(value, { outputter, retcode = 0 } = {}) {
      const plugin =
        chosenOutputter ?? (await preferred(loader, [outputter, textOf(config.output), 'nested']))
      const text = await rendered(plugin, loader, value, { ...options, retcode })
      if (text !== '') await write(`${text}\n`)
    },
  }
}

interface Named {
  readonly name: string
  readonly plugin: Outputter
}

const named = async (loader: Loader, name: string): Promise<Named> => ({
  name,
  plugin: await loader.plugin<Outputter>(name),
})

async function chosenPlugin(loader: Loader, name: string): Promise<Named> {
  const known = await loader.pluginNames()
  if (known.includes(name)) return named(loader, name)
  const meant = closest(name, known)
  const hint = meant ? ` Did you mean '${meant}'?` : ''
  throw new UsageError(`There is no outputter '${name}'.${hint} There are: ${[...known].sort().join(', ')}.`)
}

/** The first of the names that can be loaded: a function may ask for one that is not here. */
async function preferred(loader: Loader, names: readonly (string | undefined)[]): Promise<Named> {
  for (const name of names.slice(0, -1)) {
    if (name === undefined || name === 'nested') continue
    const found = await named(loader, name).catch(() => undefined)
    if (found) return found
  }
  return named(loader, names.at(-1) as string)
}

/** An outputter that cannot show a value leaves it to `nested`. */
async function rendered(
  { name, plugin }: Named,
  loader: Loader,
  value: unknown,
  options: OutputOptions,
): Promise<string> {
  try {
    const text: unknown = plugin.render(value, options)
    if (typeof text === 'string') return text
    throw new Error(`it gives ${text instanceof Promise ? 'a promise' : kindOf(text)} and no text`)
  } catch (error) {
    tell(`The outputter '${name}' failed (${messageOf(error)}); this is shown as nested.`)
    return (await loader.plugin<Outputter>('nested')).render(value, options)
  }
}

/** What writes, and resolves when there is room for more: a reader that is slow is waited for. */
function openSink(flags: OutputFlags): (text: string) => Promise<unknown> {
  const path = flags['out-file']
  if (path === undefined) {
    const { stdout } = process
    return async (text) => {
      makeRoom()
      gatherOutput()
      return stdout.write(text) || once(stdout, 'drain')
    }
  }
  const write = openOutputFile(path, flags['out-file-append'] === true)
  return async (text) => write(text)
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
