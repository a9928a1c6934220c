/** Prints values through the outputter plugins, to standard output or a file. */
import { once } from 'node:events'
import type { Log } from '../../author/context.ts'
import type { OutputOptions, Outputter } from '../../author/kinds.ts'
import { closest } from '../../base/closest.ts'
import { messageOf } from '../../base/errors.ts'
import { screened } from '../../base/screened.ts'
import { type Loader, openLoader } from '../../loader/index.ts'
import { typeInWords } from '../../loader/kind-of.ts'
import { UsageError } from '../exit-codes.ts'
import { corkOutput, hideLiveLine, printNote } from './console.ts'
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
  /** The outputter that the function asks for; `--out` wins. */
  readonly outputter?: string | undefined
  /** Return code of the function: not 0 for a failure. */
  readonly retcode?: number
}

export interface Printer {
  /** The outputter of `--out`. */
  readonly chosen: string | undefined
  print(value: unknown, options?: Printed): Promise<void>
}

type Config = Readonly<Record<string, unknown>>

/**
 * Open the printer before anything else is done.
 * @throws UsageError for an unknown outputter
 */
export async function openPrinter(flags: OutputFlags, config: Config, log: Log): Promise<Printer> {
  const loader = openLoader('outputters', { config, log })
  const chosen = flags.out === 'text' ? 'txt' : flags.out
  const chosenOutputter = chosen === undefined ? undefined : await chosenPlugin(loader, chosen)
  const options = await outputOptions(flags, config)
  const { terminal, strip_colors, color: colors } = options
  const safe = (text: string) =>
    terminal === true && strip_colors !== false ? screened(text, { colors }) : text
  const write = openSink(flags)
  return {
    chosen,
    async print(value, { outputter, retcode = 0 } = {}) {
      const plugin =
        chosenOutputter ?? (await preferred(loader, [outputter, textOf(config.output), 'nested']))
      const text = await rendered(plugin, loader, value, { ...options, retcode })
      if (text !== '') await write(`${safe(text)}\n`)
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
  const similar = closest(name, known)
  const hint = similar ? ` Did you mean '${similar}'?` : ''
  throw new UsageError(`There is no outputter '${name}'.${hint} There are: ${[...known].sort().join(', ')}.`)
}

/** Load the first outputter of the names that exists: a function may ask for one that does not. */
async function preferred(loader: Loader, names: readonly (string | undefined)[]): Promise<Named> {
  for (const name of names.slice(0, -1)) {
    if (name === undefined || name === 'nested') continue
    const found = await named(loader, name).catch(() => undefined)
    if (found) return found
  }
  return named(loader, names.at(-1) as string)
}

/** Render a value; if the outputter fails, `nested` renders it. */
async function rendered(
  { name, plugin }: Named,
  loader: Loader,
  value: unknown,
  options: OutputOptions,
): Promise<string> {
  try {
    const text: unknown = plugin.render(value, options)
    if (typeof text === 'string') return text
    throw new Error(`it returned ${typeInWords(text)} instead of text`)
  } catch (error) {
    printNote(`The outputter '${name}' failed (${messageOf(error)}); this is shown as nested.`)
    return (await loader.plugin<Outputter>('nested')).render(value, options)
  }
}

/** Return the function that writes text. It resolves when there is room for more, so slow readers are waited for. */
function openSink(flags: OutputFlags): (text: string) => Promise<unknown> {
  const path = flags['out-file']
  if (path === undefined) {
    const { stdout } = process
    return async (text) => {
      hideLiveLine()
      corkOutput()
      return stdout.write(text) || once(stdout, 'drain')
    }
  }
  const write = openOutputFile(path, flags['out-file-append'] === true)
  return async (text) => write(text)
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
