/** The documentation of a fleet: the functions that its minions have reported, by module. */

import { splitName } from '../../loader/names.ts'
import { type Fleet, type FleetFunction, offerSentences, readFleet } from '../authoring/fleet-functions.ts'
import type { DocumentedFile, DocumentedFunction } from './function-page.ts'
import { grouped } from './grouped.ts'

/** Names of minions beside a function; of more, their number is given. */
const NAMED_MINIONS = 50
/** The most characters of a function, and of all, that are read as Markdown: of the texts of strangers some would take hours. */
const MAX_MARKDOWN = 2000
const MAX_MARKDOWN_OF_ALL = 500_000

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
  let left = MAX_MARKDOWN_OF_ALL
  const isPlain = ({ python, doc = '' }: FleetFunction): boolean => {
    if (python || doc.length > Math.min(MAX_MARKDOWN, left)) return true
    left -= doc.length
    return false
  }
  const modules = grouped(functions, ({ name }) => splitName(name)[0])
  return [...modules].map(([file, members]) => ({
    kind: 'modules',
    file,
    names: [file],
    functions: members.map((found) => documented(found, isPlain(found), minions)),
  }))
}

function documented(found: FleetFunction, isPlain: boolean, minions: number): DocumentedFunction {
  const { name, doc, params, returns } = found
  return {
    name,
    doc,
    isPlain,
    signature: { params, returns: returns && { schema: returns } },
    offer: offerSentences(found, minions, NAMED_MINIONS),
  }
}
