/** The documentation of a fleet: the functions that its minions have reported, by module. */
import { splitName } from '../../loader/names.ts'
import { type Fleet, type FleetFunction, offerSentences, readFleet } from '../authoring/fleet-functions.ts'
import type { DocumentedFile, DocumentedFunction } from './function-page.ts'

/** Names of minions beside a function; of more, their number is given. */
const NAMED_MINIONS = 50

export interface DocumentedFleet {
  readonly files: readonly DocumentedFile[]
  readonly minions: number
  readonly notes: readonly string[]
}

/** @throws SaltError FUNCTION_NOT_FOUND if no minion has reported anything */
export async function documentedFleet(configDir: string | undefined): Promise<DocumentedFleet> {
  const fleet = await readFleet(configDir)
  return { files: filesOf(fleet), minions: fleet.minions, notes: fleet.notes }
}

export function filesOf({ functions, minions }: Pick<Fleet, 'functions' | 'minions'>): DocumentedFile[] {
  const modules = new Map<string, DocumentedFunction[]>()
  for (const found of functions) {
    const [module] = splitName(found.name)
    modules.set(module, [...(modules.get(module) ?? []), documented(found, minions)])
  }
  return [...modules].map(([file, functions]) => ({ kind: 'modules', file, names: [file], functions }))
}

function documented(found: FleetFunction, minions: number): DocumentedFunction {
  const { name, doc, python, params, returns } = found
  return {
    ...{ name, doc, isPlain: python },
    signature: { params, returns: returns && { schema: returns } },
    offer: offerSentences(found, minions, NAMED_MINIONS),
  }
}
