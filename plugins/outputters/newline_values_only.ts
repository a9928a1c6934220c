/** Only the returned values, a line each, without ids. */
import { outputter } from 'salt-ts'
import { strOf } from './_python.ts'
import { entriesOf, kindOf, listOf } from './_values.ts'

export default outputter({
  render: (value) =>
    valuesOf(value)
      .map((member) => strOf(member).replace(/\n$/, ''))
      .join('\n'),
})

function valuesOf(value: unknown): unknown[] {
  if (kindOf(value) !== 'map') return [value]
  return entriesOf(value).flatMap(([, returned]) =>
    kindOf(returned) === 'list' ? listOf(returned) : [returned],
  )
}
