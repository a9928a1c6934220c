/** Shows, in red, why minions did not return. */
import { outputter } from 'salt-ts'
import { type Paint, painter, type Screen, screen } from './_colors.ts'
import { nested } from './_nested.ts'
import { rstrip, strOf } from './_python.ts'
import { entriesOf, isSortable, kindOf, sortedEntriesOf } from './_values.ts'

export default outputter({
  render(value, options) {
    if (!hasOrder(value)) return nested(value, options)
    return rstrip(lines(value, '', painter(options), screen(options)).join('\n'))
  },
})

function lines(value: unknown, indent: string, paint: Paint, safe: Screen): string[] {
  if (kindOf(value) === 'text') {
    return (value as string).split('\n').map((line) => paint('red', indent + safe(line)))
  }
  if (kindOf(value) !== 'map') return []
  return sortedEntriesOf(value).flatMap(([id, reason]) => [
    `${paint('cyan', indent + safe(strOf(id)))}:`,
    ...lines(reason, `${indent}    `, paint, safe),
  ])
}

/** Whether the keys of all maps can be sorted. */
function hasOrder(value: unknown): boolean {
  if (kindOf(value) !== 'map') return true
  const entries = entriesOf(value)
  return isSortable(entries) && entries.every(([, member]) => hasOrder(member))
}
