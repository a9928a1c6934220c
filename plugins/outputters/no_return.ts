/** For minions that did not return: the reason, in red. */
import { outputter } from 'salt-ts'
import { type Paint, painter, withoutControls } from './_colors.ts'
import { strOf } from './_python.ts'
import { kindOf, sortedEntriesOf } from './_values.ts'

export default outputter({ render: (value, { color }) => lines(value, '', painter(color)).join('\n') })

function lines(value: unknown, indent: string, paint: Paint): string[] {
  if (kindOf(value) !== 'map') {
    return strOf(value)
      .split('\n')
      .map((line) => paint('red', indent + withoutControls(line)))
  }
  return sortedEntriesOf(value).flatMap(([id, reason]) => [
    `${paint('cyan', indent + withoutControls(strOf(id)))}:`,
    ...lines(reason, `${indent}    `, paint),
  ])
}
