/** `id: line` for every line that a minion returned; easy to grep. */
import { outputter } from 'salt-ts'
import { pformat } from './_pprint.ts'
import { rstrip, strOf } from './_python.ts'
import { entriesOf, kindOf, linesOf } from './_values.ts'

export default outputter({
  render(value) {
    if (kindOf(value) === 'text') return rstrip(value as string)
    if (kindOf(value) !== 'map') return rstrip(pformat(value))
    return rstrip(
      entriesOf(value)
        .flatMap(([id, returned]) => shown(returned).map((line) => `${strOf(id)}: ${line}`))
        .join('\n'),
    )
  },
})

/** Return the lines of a text; any other value is one text. */
function shown(value: unknown): string[] {
  return kindOf(value) === 'text' ? linesOf(value as string) : [strOf(value)]
}
