/** What `salt-key` does to keys: show whom it means, ask, change, tell. */
import { closest } from '../base/closest.ts'
import { type KeyAct, type KeyDesk, type KeyOutcome, sectionAfter } from '../client/key-desk.ts'
import { type KeyLists, type KeyState, keyFolders } from '../keys/index.ts'
import { tellApiClients } from './api-client-keys.ts'
import { tell } from './console.ts'
import { exitCodes } from './exit-codes.ts'
import type { Printer } from './printer.ts'
import { confirm } from './prompt.ts'

export interface KeySettings {
  readonly desk: KeyDesk
  readonly printer: Printer
  /** Somebody wants data on standard output, and nothing else. */
  readonly asData: boolean
  readonly yes: boolean
  readonly quiet: boolean
  /** Shell patterns of ids that are no minions. */
  readonly apiClients: readonly string[]
  readonly include: { readonly accepted: boolean; readonly rejected: boolean; readonly denied: boolean }
}

const DONE = { accept: 'accepted', reject: 'rejected', delete: 'deleted' } as const

/** Salt's words for the states, in the order it names them. */
const WORDS: readonly (readonly [state: KeyState, word: string])[] = [
  ['pending', 'unaccepted'],
  ['accepted', 'accepted'],
  ['rejected', 'rejected'],
  ['denied', 'denied'],
]

/** Accept, reject or delete every key that a pattern means. Exit code 0 only if it meant one and all went well. */
export async function changeKeys(act: KeyAct, match: string, settings: KeySettings): Promise<number> {
  const states = statesOf(act, settings)
  const meant = onlyIn(states, await settings.desk.match(match))
  if (Object.keys(meant).length === 0) {
    tell(`The key glob '${match}' does not match any ${anyOf(states)} keys.`)
    const others = Object.values(onlyIn(states, await settings.desk.match('*'))).flat()
    const near = closest(match, others)
    if (near !== undefined) tell(`Did you mean '${near}'?`)
    return exitCodes.nothing
  }
  if (!(await agreed(act, meant, settings))) return exitCodes.failed
  const changes = await settings.desk.change(act, meant, states)
  await report(act, meant, changes, settings)
  return changes.some(({ refused }) => refused !== undefined) ? exitCodes.failed : exitCodes.ok
}

function statesOf(act: KeyAct, { include }: KeySettings): KeyState[] {
  if (act === 'delete') return WORDS.map(([state]) => state)
  const states: KeyState[] = ['pending']
  if (act === 'reject' && include.accepted) states.push('accepted')
  if (act === 'accept' && include.rejected) states.push('rejected')
  if (include.denied) states.push('denied')
  return states
}

function onlyIn(states: readonly KeyState[], lists: KeyLists): KeyLists {
  const sections = new Set<string>(states.map((state) => keyFolders[state]))
  return Object.fromEntries(Object.entries(lists).filter(([section]) => sections.has(section)))
}

/** `unaccepted, accepted or denied`. */
function anyOf(states: readonly KeyState[]): string {
  const words = WORDS.filter(([state]) => states.includes(state)).map(([, word]) => word)
  const last = words.pop()
  return words.length > 0 ? `${words.join(', ')} or ${last}` : String(last)
}

/** The keys are shown in any case, and what a denied key would replace; with `-y` nothing is asked. */
async function agreed(act: KeyAct, meant: KeyLists, settings: KeySettings): Promise<boolean> {
  const { printer, asData, quiet, yes } = settings
  const title = `The following keys are going to be ${DONE[act]}:`
  if (asData || quiet) {
    if (!yes) tell([title, ...asLines(meant)].join('\n'))
  } else {
    process.stdout.write(`${title}\n`)
    await printer.print(meant, { outputter: 'key' })
  }
  if (act === 'accept') tellApiClients(meant, settings.apiClients)
  const replacing = act === 'accept' ? (meant[keyFolders.denied] ?? []) : []
  for (const id of replacing) tell(await comparison(id, settings))
  return yes || confirm('Proceed?', act !== 'delete' && replacing.length === 0)
}

const asLines = (lists: KeyLists): string[] =>
  Object.entries(lists).flatMap(([section, ids]) => [`${section}:`, ...ids.map((id) => `    ${id}`)])

/** A denied key is either that of a minion that was set up anew, or of somebody else: whoever accepts it must know. */
async function comparison(id: string, { desk }: KeySettings): Promise<string> {
  const fingers = await desk.finger(id)
  const rows = (['accepted', 'pending', 'rejected', 'denied'] as const).flatMap((state) => {
    const finger = fingers[keyFolders[state]]?.[id]
    return finger === undefined ? [] : [{ state, row: `    ${state.padEnd(9)} ${finger}` }]
  })
  const what = rows.some(({ state }) => state !== 'denied')
    ? 'takes the place of another'
    : 'will be accepted'
  return [
    `The denied key of ${id} ${what}. Compare with that of minion.pub on the minion:`,
    ...rows.map(({ row }) => row),
  ].join('\n')
}

/** As text a line for each key; as data what Salt's wheel functions give, and for deleted keys where they were. */
async function report(
  act: KeyAct,
  meant: KeyLists,
  changes: readonly KeyOutcome[],
  { printer, quiet, asData }: KeySettings,
): Promise<void> {
  for (const { refused } of changes) if (refused !== undefined) tell(refused)
  const done = new Set(changes.filter(({ refused }) => refused === undefined).map(({ id }) => id))
  const lists = Object.entries(meant).map(([section, ids]) => [section, ids.filter((id) => done.has(id))])
  const ids = [...new Set(lists.flatMap(([, names]) => names as string[]))]
  if (quiet || ids.length === 0) return
  if (asData)
    return printer.print(act === 'delete' ? Object.fromEntries(lists) : { [sectionAfter[act]]: ids })
  for (const [, names] of lists) {
    for (const id of names as string[]) process.stdout.write(`Key for minion ${id} ${DONE[act]}.\n`)
  }
}
