import { CommandExecutionError, SaltInvocationError } from 'salt-ts'

/** The six fields of a line of fstab, by Salt's names. */
export type FstabEntry = Readonly<Record<FstabField, string>>
type FstabField = (typeof FIELDS)[number]

const FIELDS = ['device', 'name', 'fstype', 'opts', 'dump', 'pass_num'] as const
const SPECIAL_TYPES = [
  ...['none', 'tmpfs', 'sysfs', 'proc', 'fusectl', 'debugfs', 'securityfs', 'devtmpfs', 'cgroup'],
  ...['nfs', 'nfs4', 'glusterfs', 'btrfs'],
]

/** Read a line; undefined for comments and lines that do not have four to six fields. */
export function readEntry(line: string): FstabEntry | undefined {
  const words = line.trim().split(/\s+/)
  if (words.length < 4 || words.length > 6 || words[0]?.startsWith('#')) return undefined
  const [device = '', name = '', fstype = '', opts = '', dump = '0', pass_num = '0'] = words
  return { device, name, fstype, opts, dump, pass_num }
}

/** Write an entry as a line. */
export const writeEntry = ({ device, name, fstype, opts, dump, pass_num }: FstabEntry): string =>
  `${device}\t\t${name}\t${fstype}\t${opts}\t${dump} ${pass_num}`

/** Write white space as the octal number that fstab needs; people also write `\ `. */
export const escaped = (text: string): string => text.replace(/\\? /g, '\\040').replaceAll('\t', '\\011')

/** Write a value as one field of a line. @throws SaltInvocationError for a line break, which would begin another entry */
export function oneField(text: string): string {
  if (!/[\r\n]/.test(text)) return escaped(text)
  throw new SaltInvocationError('A field of fstab cannot contain a line break')
}

/**
 * Return the fields that tell which line an entry belongs to. `auto` is the mount point for file systems without a device,
 * and the device for others.
 * @throws CommandExecutionError for names that are no fields
 */
export function matchedFields(matchOn: string | readonly string[], fstype: string): FstabField[] {
  if (matchOn === 'auto') return [SPECIAL_TYPES.includes(fstype) ? 'name' : 'device']
  const names = [matchOn].flat()
  const unknown = names.filter((name) => !FIELDS.some((field) => field === name))
  if (unknown.length > 0) {
    throw new CommandExecutionError(`Unrecognized keys in match_on: "${unknown.join(', ')}"`)
  }
  return FIELDS.filter((field) => names.includes(field))
}

/** Whether a line has an entry with these fields of another. The order of options has no meaning. */
export function matches(
  line: FstabEntry | undefined,
  wanted: FstabEntry,
  fields: readonly FstabField[] = FIELDS,
): boolean {
  if (line === undefined) return false
  const sorted = (entry: FstabEntry) => entry.opts.split(',').sort().join(',')
  return fields.every((field) =>
    field === 'opts' ? sorted(line) === sorted(wanted) : line[field] === wanted[field],
  )
}
