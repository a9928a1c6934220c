/** The Slack message about a return: the counts of states, or the returned value. */
import { jsonText, recordJson } from 'salt-ts'
import { type Fields, isRecord } from './_fields.ts'

export interface Attachment {
  readonly color: string
  readonly title: string
  readonly [member: string]: unknown
}

export interface Look {
  readonly title: string
  readonly author: string
  readonly icon: string
  /** Name the states that changed or failed. */
  readonly showTasks: boolean
}

/** Longer values are cut: Slack limits the size of messages. */
const MAX_CHARACTERS = 8000

/** Make the attachments as Salt does. */
export function attachments(ret: Fields, look: Look): readonly Attachment[] {
  const states = statesOf(ret.return)
  const args = Array.isArray(ret.fun_args) ? ret.fun_args : []
  const text = [
    `Function: ${ret.fun}`,
    ...(args.length > 0 ? [`Function Args: ${recordJson(args.map(shown))}`] : []),
    `JID: ${ret.jid}`,
    ...(states ? [`Total: ${states.total}`, `Duration: ${(states.duration / 1000).toFixed(2)} secs`] : ['']),
  ].join('\n')
  const head = {
    fallback: look.title,
    color: '#272727',
    author_name: look.author,
    author_link: '',
    author_icon: look.icon,
    title: `Success: ${succeeded(ret) ? 'True' : 'False'}`,
    text,
  }
  if (!states)
    return [head, { color: succeeded(ret) ? 'good' : 'danger', title: `Return: ${shown(ret.return)}` }]
  const { total, changed, failed } = states
  const named = (tasks: readonly string[]) =>
    look.showTasks && tasks.length > 0 && { fields: tasks.map((value) => ({ value, short: false })) }
  return [
    head,
    { color: 'good', title: `Unchanged: ${total - changed.length - failed.length}` },
    { color: 'warning', title: `Changed: ${changed.length}`, ...named(changed) },
    { color: 'danger', title: `Failed: ${failed.length}`, ...named(failed) },
  ]
}

export const succeeded = ({ retcode }: Fields): boolean => retcode === 0

interface States {
  readonly total: number
  readonly changed: readonly string[]
  readonly failed: readonly string[]
  /** Milliseconds. */
  readonly duration: number
}

/** Summarize the states; undefined if the value is not a result of states. */
function statesOf(value: unknown): States | undefined {
  if (!isRecord(value)) return undefined
  const states = Object.entries(value).filter((entry): entry is [string, Fields] => isRecord(entry[1]))
  if (!states[0] || !('__id__' in states[0][1])) return undefined
  const inOrder = states.sort(
    ([, one], [, other]) => Number(one.__run_num__ ?? 0) - Number(other.__run_num__ ?? 0),
  )
  const those = (wanted: (state: Fields) => boolean) =>
    inOrder
      .filter(([, state]) => wanted(state))
      .map(([name, { __sls__ }]) => `${__sls__}.sls | ${name.split('_|-')[1]}`)
  return {
    total: states.length,
    changed: those(({ changes }) => isRecord(changes) && Object.keys(changes).length > 0),
    failed: those(({ result }) => result === false),
    duration: states.reduce((sum, [, state]) => sum + (Number(state.duration) || 0), 0),
  }
}

function shown(value: unknown): string {
  const text = isRecord(value) ? `\n${jsonText(value, { step: 2 })}` : textOf(value)
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : recordJson(value))
