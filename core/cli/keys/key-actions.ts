/** Accepts, rejects and deletes keys: shows which match, asks, changes them, reports. */
import { closest } from '../../base/closest.ts'
import {
  type KeyAction,
  type KeyOperations,
  type KeyOutcome,
  resultingSection,
} from '../../client/local/key-operations.ts'
import { isApiClient, type KeyState, type KeysBySection, keyFolders } from '../../keys/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { printNote } from '../output/console.ts'
import type { Printer } from '../output/printer.ts'
import { confirm } from '../program/ask.ts'

export interface KeySettings {
  readonly keys: KeyOperations
  readonly printer: Printer
  /** Print nothing but data to standard output (`--out`). */
  readonly asData: boolean
  readonly yes: boolean
  readonly quiet: boolean
  /** Shell patterns of ids that belong to API clients, not to minions (`api_clients`). */
  readonly apiClients: readonly string[]
  readonly include: { readonly accepted: boolean; readonly rejected: boolean; readonly denied: boolean }
}

const DONE = { accept: 'accepted', reject: 'rejected', delete: 'deleted' } as const

/** Salt's words for the states, in Salt's order. */
const WORDS: readonly (readonly [state: KeyState, word: string])[] = [
  ['pending', 'unaccepted'],
  ['accepted', 'accepted'],
  ['rejected', 'rejected'],
  ['denied', 'denied'],
]

/**
 * Accept, reject or delete every key that matches a pattern. The exit code is 0 only if there was one and all changes
 * succeeded.
 */
export async function changeKeys(act: KeyAction, match: string, settings: KeySettings): Promise<number> {
  const states = statesOf(act, settings)
  const matched = onlyIn(states, await settings.keys.match(match))
  if (Object.keys(matched).length === 0) {
    printNote(`The key glob '${match}' does not match any ${anyOf(states)} keys.`)
    const others = Object.values(onlyIn(states, await settings.keys.match('*'))).flat()
    const similar = closest(match, others)
    if (similar !== undefined) printNote(`Did you mean '${similar}'?`)
    return exitCodes.nothing
  }
  if (!(await confirmed(act, matched, settings))) return exitCodes.failed
  const changes = await settings.keys.change(act, matched, states)
  await report(act, matched, changes, settings)
  return changes.some(({ refused }) => refused !== undefined) ? exitCodes.failed : exitCodes.ok
}

function statesOf(act: KeyAction, { include }: KeySettings): KeyState[] {
  if (act === 'delete') return WORDS.map(([state]) => state)
  const states: KeyState[] = ['pending']
  if (act === 'reject' && include.accepted) states.push('accepted')
  if (act === 'accept' && include.rejected) states.push('rejected')
  if (include.denied) states.push('denied')
  return states
}

function onlyIn(states: readonly KeyState[], lists: KeysBySection): KeysBySection {
  const sections = new Set<string>(states.map((state) => keyFolders[state]))
  return Object.fromEntries(Object.entries(lists).filter(([section]) => sections.has(section)))
}

/** `unaccepted, accepted or denied`. */
function anyOf(states: readonly KeyState[]): string {
  const words = WORDS.filter(([state]) => states.includes(state)).map(([, word]) => word)
  const last = words.pop()
  return words.length > 0 ? `${words.join(', ')} or ${last}` : String(last)
}

/** Show the keys, and ask unless `-y` is given. For denied keys, show the keys that they would replace. */
async function confirmed(act: KeyAction, matched: KeysBySection, settings: KeySettings): Promise<boolean> {
  const { printer, asData, quiet, yes } = settings
  const title = `The following keys are going to be ${DONE[act]}:`
  if (asData || quiet) {
    if (!yes) printNote([title, ...asLines(matched)].join('\n'))
  } else {
    process.stdout.write(`${title}\n`)
    await printer.print(matched, { outputter: 'key' })
  }
  if (act === 'accept') printApiClientNote(matched, settings.apiClients)
  const replacing = act === 'accept' ? (matched[keyFolders.denied] ?? []) : []
  for (const id of replacing) printNote(await comparison(id, settings))
  return yes || confirm('Proceed?', act !== 'delete' && replacing.length === 0)
}

/** Print which of the ids are API clients: an accepted key of such a client lets it read every event. */
export function printApiClientNote(lists: KeysBySection, patterns: readonly string[]): void {
  const ids = [...new Set(Object.values(lists).flat())].filter((id) => isApiClient(id, patterns))
  if (ids.length === 0) return
  printNote(
    `These are API clients (api_clients), not minions. Once accepted, they can read every event of this master: ${ids.join(', ')}`,
  )
}

const asLines = (lists: KeysBySection): string[] =>
  Object.entries(lists).flatMap(([section, ids]) => [`${section}:`, ...ids.map((id) => `    ${id}`)])

/**
 * Compare the fingerprints of a denied key and the one it would replace: it is the key of a reinstalled minion, or of
 * an impostor.
 */
async function comparison(id: string, { keys }: KeySettings): Promise<string> {
  const fingers = await keys.finger(id)
  const rows = (['accepted', 'pending', 'rejected', 'denied'] as const).flatMap((state) => {
    const finger = fingers[keyFolders[state]]?.[id]
    return finger === undefined ? [] : [{ state, row: `    ${state.padEnd(9)} ${finger}` }]
  })
  const what = rows.some(({ state }) => state !== 'denied') ? 'replaces another' : 'will be accepted'
  return [
    `The denied key of ${id} ${what}. Compare it with the fingerprint of minion.pub on the minion:`,
    ...rows.map(({ row }) => row),
  ].join('\n')
}

/**
 * Report the changes: as text, a line per key; as data, the return of Salt's wheel functions, and for deleted keys
 * where they were.
 */
async function report(
  act: KeyAction,
  matched: KeysBySection,
  changes: readonly KeyOutcome[],
  { printer, quiet, asData }: KeySettings,
): Promise<void> {
  for (const { refused } of changes) if (refused !== undefined) printNote(refused)
  const done = new Set(changes.filter(({ refused }) => refused === undefined).map(({ id }) => id))
  const lists = Object.entries(matched).map(([section, ids]) => [section, ids.filter((id) => done.has(id))])
  const ids = [...new Set(lists.flatMap(([, names]) => names as string[]))]
  if (quiet || ids.length === 0) return
  if (asData)
    return printer.print(act === 'delete' ? Object.fromEntries(lists) : { [resultingSection[act]]: ids })
  for (const [, names] of lists) {
    for (const id of names as string[]) process.stdout.write(`Key for minion ${id} ${DONE[act]}.\n`)
  }
}
