/** The functions of a fleet: what the catalogues of its minions say, with their documentation. */
import { existsSync } from 'node:fs'
import type { JsonSchema, Params } from '../../author/params.ts'
import { SaltError } from '../../base/errors.ts'
import { counted, shortList } from '../../base/sentence.ts'
import { Catalogues } from '../../cache/catalogues.ts'
import { minionDataDirectory } from '../../config/cachedir.ts'
import { loadMasterConfig, type MasterConfig } from '../../config/index.ts'
import { KeyStore } from '../../keys/index.ts'
import type { Catalogue } from '../../loader/describe/describe.ts'
import { readCatalogue } from '../../loader/describe/read-catalogue.ts'
import { type FleetDocs, fleetDocs } from './fleet-docs.ts'

export interface FleetFunction {
  readonly name: string
  /** Null if they are not known. */
  readonly params: Params | null
  readonly returns?: JsonSchema
  readonly doc?: string
  /** Whether its documentation is that of Python Salt, in reStructuredText. */
  readonly python: boolean
  /** The minions that offer it with these parameters. */
  readonly minions: readonly string[]
  /** Those that offer it with others. */
  readonly others: readonly string[]
}

export interface Fleet {
  readonly functions: readonly FleetFunction[]
  /** The number of minions that have reported their functions. */
  readonly minions: number
  readonly notes: readonly string[]
}

interface Group {
  readonly catalogue: Catalogue
  readonly python: boolean
  readonly ids: string[]
}

/**
 * Read the functions that the accepted minions of a master have reported, and ask one minion of each kind for their documentation.
 * Rejects if no minion has reported anything.
 */
export async function readFleet(configDir: string | undefined): Promise<Fleet> {
  const { config } = loadMasterConfig({ configDir })
  const fleet = await fleetFunctions(config, await new KeyStore(config.pki_dir).list('accepted'))
  refuseEmptyFleet(fleet, config)
  return fleet
}

async function fleetFunctions(config: MasterConfig, ids: readonly string[]): Promise<Fleet> {
  const groups = await groupsOf(config, ids)
  const minions = groups.reduce((sum, group) => sum + group.ids.length, 0)
  const { docs, note } = await fleetDocs(config, groups)
  const silent = ids.length - minions
  const notes = [
    ...unreadNote(groups),
    ...(note === undefined ? [] : [note]),
    ...(silent > 0
      ? [
          `${silent} of ${ids.length} accepted minions have not reported their functions; they do so when they start (Python minions: at the first job).`,
        ]
      : []),
  ]
  return { functions: merged(groups, docs), minions, notes }
}

/** Say which functions have parameters that their minions have not read. */
function unreadNote(groups: readonly Group[]): string[] {
  const unread = new Set(groups.flatMap(({ catalogue }) => [...(catalogue.unreadable ?? [])]))
  const [first] = unread
  if (first === undefined) return []
  const example = unread.size === 1 ? `: ${first}` : `, such as those of ${first}`
  return [
    `The parameters of ${counted(unread.size, 'function')} are not known${example}. Minions import their modules to report them after 30 seconds without a job; run this again then.`,
  ]
}

async function groupsOf(config: MasterConfig, ids: readonly string[]): Promise<Group[]> {
  const directory = minionDataDirectory(config)
  if (!existsSync(Catalogues.path(directory))) return []
  const catalogues = Catalogues.open(directory)
  const groups = new Map<string, Group>()
  try {
    for (const id of ids) {
      const hash = catalogues.hash(id)
      if (hash === undefined) continue
      const group = groups.get(hash)
      const catalogue = group?.catalogue ?? readCatalogue(catalogues.text(hash) ?? '')
      if (group) group.ids.push(id)
      else if (catalogue) groups.set(hash, { catalogue, python: catalogue.python === true, ids: [id] })
    }
  } finally {
    await catalogues.close()
  }
  return [...groups.values()].sort((a, b) => b.ids.length - a.ids.length)
}

/** Join groups. Where they differ about a function, the parameters that most minions have count. */
function merged(groups: readonly Group[], docs: FleetDocs<Group>['docs']): FleetFunction[] {
  const found = new Map<string, { key: string } & FleetFunction & { minions: string[]; others: string[] }>()
  for (const group of groups) {
    const { catalogue, ids, python } = group
    for (const [name, params] of Object.entries(catalogue.functions)) {
      const returns = catalogue.returns?.[name]
      const key = JSON.stringify([params, returns])
      const known = found.get(name)
      if (known) (known.key === key ? known.minions : known.others).push(...ids)
      else {
        const { doc, descriptions = {} } = docs.get(group)?.get(name) ?? {}
        found.set(name, {
          key,
          name,
          python,
          params: params && described(params, descriptions),
          minions: [...ids],
          others: [],
          ...(returns && { returns }),
          ...(doc !== undefined && { doc }),
        })
      }
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Return parameters with their descriptions, which catalogues do not have. */
function described(params: Params, descriptions: Readonly<Record<string, string>>): Params {
  const entries = Object.entries(params).map(([name, param]) => {
    const description = Object.hasOwn(descriptions, name) ? descriptions[name] : undefined
    return [name, description === undefined ? param : { ...param, schema: { ...param.schema, description } }]
  })
  return Object.fromEntries(entries)
}

function refuseEmptyFleet({ minions, notes }: Fleet, config: MasterConfig): void {
  if (minions > 0) return
  throw new SaltError(
    'FUNCTION_NOT_FOUND',
    `No minion of the master of ${config.conf_file} has reported its functions. Start the master and a minion, accept its key, and run salt '*' test.ping. ${notes.join(' ')}`.trim(),
  )
}

/** Say which of all minions offer a function; of more than `most`, their number is given. */
export function offerSentences({ minions, others }: FleetFunction, all: number, most: number): string[] {
  if (others.length === 0 && minions.length === all) return ['All minions offer it.']
  const offered = `Offered by ${shortList(minions, most)}.`
  return others.length === 0 ? [offered] : [offered, `With other parameters: ${shortList(others, most)}.`]
}
