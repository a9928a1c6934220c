/** Read the journal of systemd. */
import { fn, p, type Virtual } from 'salt-ts'
import { which } from './_cmd/which.ts'
import { journalArguments } from './_journal/arguments.ts'
import { readEntries } from './_journal/read.ts'
import { readRecord, USUAL_FIELDS } from './_journal/record.ts'

/** Available where journalctl is installed. */
export const virtual: Virtual = async () =>
  (await which('journalctl')) !== null || "needs the program 'journalctl', which is not in PATH"

const text = p.optional(p.string())
const names = p.optional(p.union(p.string(), p.array(p.string())))
const time = p.optional(
  p.string({
    description: 'A time as journalctl takes it: `2 hours ago`, `yesterday`, `2026-11-26 10:00`, seconds.',
  }),
)

/**
 * Return the newest entries of the journal that match, the oldest of them first, with the names that the journal gives their
 * fields. `priority` is a name or number (`err`), with all that is more important, or a range (`warning..err`); `grep` a Perl
 * regular expression for the message; `boot` is true for the current boot, `-1` for the one before it, or an id. `fields` are
 * names of fields; `*` stands for all.
 *
 * @example salt '*' journal.query sshd
 * @example salt '*' journal.query nginx since='1 hour ago' priority=warning lines=20
 * @example salt '*' journal.query identifier=kernel boot=-1 grep='Out of memory'
 * @example salt '*' journal.query unit='[ssh, cron]' fields='*'
 */
export const query = fn(
  {
    unit: names,
    since: time,
    until: time,
    priority: text,
    lines: p.default(p.integer({ minimum: 1, maximum: 10_000 }), 100),
    grep: text,
    boot: p.optional(p.union(p.boolean(), p.integer(), p.string())),
    identifier: names,
    fields: names,
    directory: p.optional(
      p.string({ description: 'A folder of journal files, instead of those of this host.' }),
    ),
  },
  async ({ fields, ...wanted }, context) => {
    const chosen = fields === undefined ? USUAL_FIELDS : fieldNames(fields)
    const entries = await readEntries(journalArguments(wanted, chosen), wanted.lines, context)
    return entries.reverse().map((entry) => readRecord(entry, chosen))
  },
)

function fieldNames(given: string | readonly string[]): string[] | undefined {
  const names = [given].flat().flatMap((name) => name.split(','))
  return names.includes('*') ? undefined : names.map((name) => name.trim())
}
