/** The text of a crontab, as Salt reads and writes it: other lines first, then its own ones below a marker. */

const MARKER = '# Lines below here are managed by Salt, do not edit'
const IDENTIFIER = 'SALT_CRON_IDENTIFIER'
const DISABLED = '#DISABLED#'

export const TIME_FIELDS = ['minute', 'hour', 'daymonth', 'month', 'dayweek'] as const
type TimeField = (typeof TIME_FIELDS)[number]
export type Times = Record<TimeField, string>

interface Described {
  readonly identifier: string | null
  readonly cmd: string
  readonly comment: string | null
  /** Whether the job is switched off. */
  readonly commented: boolean
}
/** A job with the times when it runs. */
export type CronJob = Times & Described
/** A job that runs at a nickname for times, such as `@daily`. */
export type SpecialJob = { readonly spec: string } & Described
export type Job = CronJob | SpecialJob

/** What `cron.list_tab` returns. */
export interface Tab {
  /** The lines above the marker. */
  pre: string[]
  crons: CronJob[]
  special: SpecialJob[]
  env: { name: string; value: string }[]
}

export const isSpecial = (job: Job): job is SpecialJob => 'spec' in job

export function parseTab(text: string): Tab {
  const lines = text.replace(/\n$/, '').split('\n')
  const at = lines.indexOf(MARKER)
  if (at < 0) return { pre: text === '' ? [] : lines, crons: [], special: [], env: [] }
  const tab: Tab = { pre: lines.slice(0, at), crons: [], special: [], env: [] }
  let notes: Notes = NO_NOTES
  for (const line of lines.slice(at + 1).filter((line) => line !== MARKER)) {
    if (line.startsWith('#') && !line.startsWith(DISABLED)) notes = addNote(notes, line)
    else if (readLine(line, notes, tab)) notes = NO_NOTES
  }
  return tab
}

/** What the comment lines above a job say. */
type Notes = Pick<Described, 'identifier' | 'comment'>
const NO_NOTES: Notes = { identifier: null, comment: null }

function addNote({ identifier, comment }: Notes, line: string): Notes {
  const text = line.replace(/^[# ]+/, '')
  const at = text.indexOf(IDENTIFIER)
  const said = at < 0 ? text : text.slice(0, at).trimEnd()
  const given = at < 0 ? '' : text.slice(at + IDENTIFIER.length + 1)
  return { identifier: given || identifier, comment: comment === null ? said : `${comment}\n${said}` }
}

/** Read a line that is no comment into the tab. Returns whether it is a job, which the notes above it belong to. */
function readLine(line: string, notes: Notes, tab: Tab): boolean {
  const commented = line.startsWith(DISABLED)
  const text = commented ? line.slice(DISABLED.length) : line
  const [, spec, specialCmd] = /^(@\S+)\s+(\S.*)$/.exec(text) ?? []
  if (spec !== undefined) {
    tab.special.push({ spec, cmd: specialCmd!, ...notes, commented })
    return true
  }
  const [, name, value] = /^([^\s=]+|[A-Za-z_]\w*\s+)=(.*)$/.exec(text) ?? []
  if (name !== undefined) {
    tab.env.push({ name: name.trimEnd(), value: name === name.trimEnd() ? value! : value!.trimStart() })
    return false
  }
  const [, minute, hour, daymonth, month, dayweek, cmd] =
    /^(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s(.*)$/.exec(text) ?? []
  if (cmd === undefined) return false
  const times = { minute: minute!, hour: hour!, daymonth: daymonth!, month: month!, dayweek: dayweek! }
  tab.crons.push({ ...times, identifier: notes.identifier, cmd, comment: notes.comment, commented })
  return true
}

export function renderTab({ pre, env, crons, special }: Tab): string {
  const lines = [...pre, MARKER, ...env.map(envLine), ...[...crons, ...special].flatMap(jobLines)]
  return `${lines.join('\n')}\n`
}

/** The text of a variable's value: an empty one needs quotation marks. */
export const envValue = (value: string | undefined): string => value || '""'

const envLine = ({ name, value }: Tab['env'][number]): string => `${name}=${envValue(value)}`

function jobLines(job: Job): string[] {
  const times = isSpecial(job) ? [job.spec] : TIME_FIELDS.map((field) => job[field])
  const line = `${job.commented ? DISABLED : ''}${[...times, job.cmd].join(' ')}`
  return [...noteLines(job), line]
}

function noteLines({ comment, identifier }: Job): string[] {
  if (comment === null && identifier === null) return []
  const text = comment ? ` ${comment.trimEnd().replaceAll('\n', '\n# ')}` : ''
  const id = identifier ? ` ${IDENTIFIER}:${identifier}` : ''
  return [`#${text}${id}`]
}
