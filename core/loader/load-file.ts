import type { Fn } from '../author/fn.ts'
import { deferred } from '../base/deferred.ts'
import { messageOf } from '../base/errors.ts'
import { listFunctions } from './functions.ts'
import { importFile, type Namespace } from './import-file.ts'
import type { SourceFile } from './index-files.ts'
import type { Kind } from './kinds.ts'
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
}

/** Import a file and ask what it offers. Never rejects, and never takes longer than the limit. */
export async function loadFile(file: SourceFile, settings: LoadSettings): Promise<LoadedFile> {
  const late = deferred<LoadedFile>()
  const seconds = settings.timeoutMs / 1000
  const reason = `${file.path}: did not finish loading within ${seconds} s; does it wait for something at its top level?`
  const work = importAndAsk(file, settings)
  const timer = setTimeout(() => late.resolve({ ...failed(file, reason), late: work }), settings.timeoutMs)
  try {
    return await Promise.race([work, late.promise])
  } catch (error) {
    return failed(file, messageOf(error))
  } finally {
    clearTimeout(timer)
  }
}

async function importAndAsk(file: SourceFile, { kind, facts }: LoadSettings): Promise<LoadedFile> {
  const namespace = await importFile(file)
  const offer = await askOffer(namespace, file.name, file.path, facts)
  const reason = kind.shape === 'plugin' ? refusePlugin(namespace.default, kind) : undefined
  if (reason !== undefined) return { ...failed(file, `${file.path}: ${reason}`), names: offer.names }
  return { ...offer, functions: kind.shape === 'functions' ? listFunctions(namespace) : new Map(), namespace }
}

/** A plugin without an obligatory member is refused when it is loaded, not when it is needed. */
function refusePlugin(plugin: unknown, kind: Kind): string | undefined {
  if (typeof plugin !== 'object' || plugin === null)
    return `has no default export; ${kind.name} are one default export`
  const missing = kind.members?.filter((member) => typeof Reflect.get(plugin, member) !== 'function') ?? []
  return missing.length === 0
    ? undefined
    : `its default export has no ${missing.map((m) => `${m}()`).join(', ')}`
}

function failed(file: SourceFile, reason: string): LoadedFile {
  return { names: [file.name], refusal: { by: 'failure', reason }, functions: new Map(), namespace: {} }
}
