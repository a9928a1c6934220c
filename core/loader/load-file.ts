import type { Fn } from '../author/fn.ts'
import { deferred } from '../base/deferred.ts'
import { messageOf } from '../base/errors.ts'
import { defaultsOf } from './bind.ts'
import { checkTypes } from './check-types.ts'
import { asFunction, listFunctions } from './functions.ts'
import { importFile, type Namespace } from './import-file.ts'
import type { SourceFile } from './index-files.ts'
import type { Kind } from './kinds.ts'
import { refusePlugin } from './refuse-plugin.ts'
import { shareImports } from './shared-imports.ts'
import { askOffer, type Facts, type Offer } from './virtual.ts'

/** An imported file, or why it cannot be used. */
export interface LoadedFile extends Offer {
  readonly functions: ReadonlyMap<string, Fn>
  readonly namespace: Namespace
  /** Set if the time limit struck: settles when the file has finished loading after all. */
  readonly late?: Promise<unknown>
}

export interface LoadSettings {
  readonly kind: Kind
  readonly facts: Facts
  readonly timeoutMs: number
  /** Is told before a file of a user is loaded, and when that is over; who watches can end what blocks this thread. */
  readonly watch?: ((file: SourceFile, loading: boolean) => void) | undefined
  /** Why a file must not be tried again: an earlier process was blocked by it. */
  readonly blocked?: ((file: SourceFile) => string | undefined) | undefined
}

/** Import a file and ask what it offers. Never rejects, and never takes longer than the limit. */
export async function loadFile(file: SourceFile, settings: LoadSettings): Promise<LoadedFile> {
  const blocked = settings.blocked?.(file)
  if (blocked !== undefined) return failed(file, blocked)
  const late = deferred<LoadedFile>()
  const seconds = settings.timeoutMs / 1000
  const reason = `${file.path}: did not finish loading within ${seconds} s; does it wait for something at its top level?`
  if (!file.builtIn) settings.watch?.(file, true)
  const work = importAndAsk(file, settings)
  const timer = setTimeout(() => late.resolve({ ...failed(file, reason), late: work }), settings.timeoutMs)
  try {
    return await Promise.race([work, late.promise])
  } catch (error) {
    return failed(file, messageOf(error))
  } finally {
    clearTimeout(timer)
    if (!file.builtIn) settings.watch?.(file, false)
  }
}

async function importAndAsk(file: SourceFile, settings: LoadSettings): Promise<LoadedFile> {
  const { kind, facts } = settings
  if (!file.builtIn) await shareImports(facts.opts)
  const namespace = await importFile(file)
  const offer = await askOffer(namespace, file.name, facts, file.path)
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

function functionsOf(namespace: Namespace, { absent, fallbacks }: Offer): Map<string, Fn> {
  const functions = listFunctions(namespace)
  for (const name of absent?.keys() ?? []) functions.delete(name)
  for (const [name, fallback] of fallbacks ?? []) {
    const instead = asFunction(fallback)
    if (functions.has(name) && instead) functions.set(name, instead)
  }
  return functions
}

/** Throws a sentence for a default that is not what its parameter declares. */
function refuseDefaults(functions: ReadonlyMap<string, Fn>): void {
  for (const [name, { params }] of functions) {
    const wrong = checkTypes(params)(defaultsOf(params))
    if (wrong !== undefined)
      throw new Error(`the default of a parameter of '${name}' is not what p.default() declares: ${wrong}`)
  }
}

/** Grains are collected on a proxy minion only if they say that they are good for its type (Salt's `__proxyenabled__`). */
function refuseOnProxy(enabled: unknown, { proxy }: LoadSettings['facts']['opts']): string | undefined {
  const type = typeof proxy === 'object' && proxy !== null ? Reflect.get(proxy, 'proxytype') : undefined
  if (typeof type !== 'string' || [enabled].flat().some((one) => one === '*' || one === type))
    return undefined
  return `is not for proxy minions of type ${type} (proxyEnabled)`
}

function failed(file: SourceFile, reason: string): LoadedFile {
  return { names: [file.name], refusal: { by: 'failure', reason }, functions: new Map(), namespace: {} }
}
