/** Answers to a call, as both sides give them. */
import { isMapping, type Mapping } from '../../core/base/record.ts'
import { jsonText } from '../../core/dialect/json.ts'

/** What a call returned, and what it left behind. */
export interface Answer {
  readonly value: unknown
  readonly retcode: unknown
  readonly success: boolean
  /** What the call changed in its folder: path, content and mode of each file. */
  readonly files: readonly string[]
  readonly ms: number
}

/** How much of a value is compared: of one that changes from call to call, its kinds or only its own kind. */
export type Depth = 'value' | 'kinds' | 'kind'

export type Agreement = 'equal' | 'other words' | 'traceback' | 'differs'

/**
 * Say how far the answers of salt-ts and of Salt to a call agree. `other words`: both fail, and say so in other words.
 * `traceback`: Salt shows Python's own complaint.
 */
export function agreementOf(own: Answer, theirs: Answer, depth: Depth): Agreement {
  if (isTraceback(theirs.value)) return 'traceback'
  if (jsonText(own.files) !== jsonText(theirs.files) || own.retcode !== theirs.retcode) return 'differs'
  const written = { value: textOf, kinds: kindsOf, kind: kindOf }[depth]
  if (written(own.value) === written(theirs.value)) return 'equal'
  return own.success || theirs.success || kindOf(own.value) !== kindOf(theirs.value)
    ? 'differs'
    : 'other words'
}

const TRACEBACK = /^(The minion function caused an exception|Passed invalid arguments to|\w+Error: )/

const isTraceback = (value: unknown): boolean => typeof value === 'string' && TRACEBACK.test(value)

/** Return a value as text in which the order of keys and the fields of the job do not count. */
export const textOf = (value: unknown): string =>
  jsonText(value, {
    order: sorted,
    other: (member) =>
      member instanceof Uint8Array ? `bytes:${Buffer.from(member).toString('hex')}` : String(member),
  })

/** Return the keys and kinds of a value as text. */
function kindsOf(value: unknown): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(kindsOf))].sort().join()}]`
  if (!isMapping(value)) return kindOf(value)
  return `{${sorted(value)
    .map(([key, member]) => `${key}: ${kindsOf(member)}`)
    .join()}}`
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'list'
  if (isMapping(value)) return 'map'
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return 'integer'
  return value instanceof Number || typeof value === 'number'
    ? 'float'
    : value === null
      ? 'null'
      : typeof value
}

/** Count the fields that either answer has: its return code, its files, and each value that is neither a list nor a map. */
export function comparedFields(own: Answer, theirs: Answer, depth: Depth): { fields: number; equal: number } {
  const [one, other] = [fieldsOf(own, depth), fieldsOf(theirs, depth)]
  const fields = [...new Set([...one.keys(), ...other.keys()])]
  return {
    fields: fields.length,
    equal: fields.filter((field) => one.get(field) === other.get(field)).length,
  }
}

function fieldsOf({ value, retcode, files }: Answer, depth: Depth): Map<string, string> {
  const fields = new Map([
    ['retcode', String(retcode)],
    ['files', jsonText(files)],
  ])
  const add = (path: string, member: unknown) => {
    const members = depth === 'kind' ? [] : partsOf(member, depth)
    for (const [key, part] of members) add(`${path}/${key}`, part)
    if (members.length > 0) return
    fields.set(path, { value: textOf, kinds: kindsOf, kind: kindOf }[depth](member))
  }
  add('value', value)
  return fields
}

/** Return the members of a map, and the elements of a list unless only their kinds are compared. */
function partsOf(value: unknown, depth: Depth): [unknown, unknown][] {
  if (Array.isArray(value)) return depth === 'value' ? [...value.entries()] : []
  return isMapping(value) ? sorted(value) : []
}

/** Return the members in order, without the fields of the job (`__pub_*`): Salt gets its calls as jobs, salt-ts as `salt-call`. */
const sorted = (map: unknown): [unknown, unknown][] =>
  membersOf(map as Mapping)
    .filter(([key]) => !String(key).startsWith('__pub_'))
    .sort(([one], [other]) => (String(one) < String(other) ? -1 : 1))

const membersOf = (map: Mapping): [unknown, unknown][] =>
  map instanceof Map ? [...map] : Object.entries(map)
