import type { Fn } from '../../author/fn.ts'
import { messageOf } from '../../base/errors.ts'
import { endsWithin } from '../../base/with-timeout.ts'
import { defaultsOf } from '../calls/bind.ts'
import { checkTypes } from '../calls/check-types.ts'
import { asFunction, listFunctions } from '../functions.ts'
import type { Kind } from '../kinds.ts'
import { type Availability, askAvailability, type FileLoadFacts } from '../offer/virtual.ts'
import { importFile, type Namespace } from './import-file.ts'
import type { SourceFile } from './index-files.ts'
import { orLastGood } from './last-good.ts'
import { refusePlugin } from './refuse-plugin.ts'
import { shareImports } from './shared-imports.ts'

/** An imported file, or the reason why it cannot be used. */
export interface LoadedFile extends Availability {
  readonly functions: ReadonlyMap<string, Fn>
  readonly namespace: Namespace
  /** Set if it does not finish loading: an import of it may never end. */
  readonly blocks?: true
  /** Set if the time limit was exceeded: settles when the file has finished loading after all. */
  readonly late?: Promise<unknown>
}

export interface LoadSettings {
  readonly kind: Kind
  readonly facts: FileLoadFacts
  readonly timeoutMs: number
  /** Called before and after a user's file is loaded, so that another process can end this one if the file blocks it. */
  readonly watch?: ((file: SourceFile, loading: boolean) => void) | undefined
  /** Returns the reason why a file must not be loaded again: it has blocked an earlier process. */
  readonly blocked?: ((file: SourceFile) => string | undefined) | undefined
}

/** Import a file and read what it offers. Never rejects, and never takes longer than the limit. */
export async function loadFile(file: SourceFile, settings: LoadSettings): Promise<LoadedFile> {
  const blocked = settings.blocked?.(file)
  if (blocked !== undefined) return { ...failed(file, blocked), blocks: true }
  const seconds = settings.timeoutMs / 1000
  const reason = `${file.path}: did not finish loading within ${seconds} s; does it wait for something at its top level, in init or in virtual?`
  const work = importAndAsk(file, settings)
  if (!file.builtIn && settings.watch) reportUntilLoaded(file, work, settings.watch, settings.timeoutMs)
  try {
    if (await endsWithin(work, settings.timeoutMs)) return await work
    return { ...failed(file, reason), blocks: true, late: work }
  } catch (error) {
    return failed(file, messageOf(error))
  }
}

/**
 * Report that a file is being loaded until it is, again every `ms` milliseconds: a file that is late may block the process
 * yet, which then stops reporting.
 */
function reportUntilLoaded(
  file: SourceFile,
  work: Promise<unknown>,
  watch: NonNullable<LoadSettings['watch']>,
  ms: number,
): void {
  watch(file, true)
  const timer = setInterval(watch, ms, file, true).unref()
  const loaded = () => {
    clearInterval(timer)
    watch(file, false)
  }
  work.then(loaded, loaded)
}

async function importAndAsk(file: SourceFile, settings: LoadSettings): Promise<LoadedFile> {
  if (file.builtIn) return ask(file, await importFile(file), settings)
  await shareImports(settings.facts.opts)
  return orLastGood(file.path, async (exports) => ask(file, exports ?? (await importFile(file)), settings))
}

/** Ask an imported file what it offers. */
async function ask(
  file: SourceFile,
  namespace: Namespace,
  { kind, facts }: LoadSettings,
): Promise<LoadedFile> {
  const offer = await askAvailability(namespace, file.name, facts, file.path)
  const reason =
    (kind.shape === 'plugin' ? refusePlugin(namespace, kind) : undefined) ??
    (kind.name === 'grains' ? refuseOnProxy(namespace.proxyEnabled, facts.opts) : undefined)
  const broken = (reason: string) => ({ ...failed(file, `${file.path}: ${reason}`), names: offer.names })
  if (reason !== undefined) return broken(reason)
  try {
    const functions = kind.shape === 'functions' ? functionsOf(namespace, offer) : new Map()
    if (!file.builtIn) refuseDefaults(functions)
    return { ...offer, functions, namespace }
  } catch (error) {
    return broken(messageOf(error))
  }
}

function functionsOf(namespace: Namespace, { absent, fallbacks }: Availability): Map<string, Fn> {
  const functions = listFunctions(namespace)
  for (const name of absent?.keys() ?? []) functions.delete(name)
  for (const [name, fallback] of fallbacks ?? []) {
    const instead = asFunction(fallback)
    if (functions.has(name) && instead) functions.set(name, instead)
  }
  return functions
}

/** Throw an error for a default value that its parameter would refuse. */
function refuseDefaults(functions: ReadonlyMap<string, Fn>): void {
  for (const [name, { params }] of functions) {
    const wrong = checkTypes(params)(defaultsOf(params))
    if (wrong !== undefined)
      throw new Error(`the default of a parameter of '${name}' does not fit its declaration: ${wrong}`)
  }
}

/** Refuse grains on a proxy minion unless they declare its type in `proxyEnabled` (Salt's `__proxyenabled__`). */
function refuseOnProxy(enabled: unknown, { proxy }: LoadSettings['facts']['opts']): string | undefined {
  const type = typeof proxy === 'object' && proxy !== null ? Reflect.get(proxy, 'proxytype') : undefined
  if (typeof type !== 'string' || [enabled].flat().some((one) => one === '*' || one === type))
    return undefined
  return `is not for proxy minions of type ${type} (proxyEnabled)`
}

function failed(file: SourceFile, reason: string): LoadedFile {
  return { names: [file.name], refusal: { by: 'failure', reason }, functions: new Map(), namespace: {} }
}
