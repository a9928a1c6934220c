import { isRecord } from '../base/record.ts'

/** A value of the mine, and the target of the minions that may get it; by default all may. */
export interface MineValue {
  readonly value: unknown
  readonly allow?: { readonly tgt: unknown; readonly tgt_type: string }
}

/** Values that a minion stores (`_mine`, wire protocol §7.2), by name. With `clear` they replace all that it has stored. */
export interface MineUpdate {
  readonly values: ReadonlyMap<string, MineValue>
  readonly clear: boolean
}

const MAX_NAME = 255
/** Salt's mark of a value with a target, and the member with the value. */
const WITH_TARGET = '__saltmine_acl__'
const VALUE = '__data__'

/** Read an update; the reason if it cannot be stored. */
export function readMineUpdate({ data, clear }: Readonly<Record<string, unknown>>): MineUpdate | string {
  if (!isRecord(data)) return 'its data is not a map of names to values'
  const wrong = Object.keys(data).find((name) => !isName(name))
  if (wrong !== undefined) return `'${wrong.slice(0, 60)}' cannot be the name of a value`
  const values = new Map(Object.entries(data).map(([name, value]) => [name, readValue(value)]))
  return { values, clear: clear === true }
}

const isName = (name: string): boolean => name !== '' && name.length <= MAX_NAME && !name.includes('\0')

function readValue(given: unknown): MineValue {
  if (!isRecord(given) || !(WITH_TARGET in given)) return { value: given }
  const { [VALUE]: value, allow_tgt: tgt, allow_tgt_type: type } = given
  return tgt ? { value, allow: { tgt, tgt_type: typeof type === 'string' ? type : 'glob' } } : { value }
}
