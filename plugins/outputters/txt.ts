/** `id: line` for every line a minion returned; easy to grep. */
import { outputter } from 'salt-ts'
import { strOf } from './_python.ts'
import { entriesOf, kindOf, linesOf } from './_values.ts'

export default outputter({
  render(value) {
    if (kindOf(value) !== 'map') return strOf(value)
    return entriesOf(value)
      .flatMap(([id, returned]) => linesOf(strOf(returned)).map((line) => `${strOf(id)}: ${line}`))
      .join('\n')
  },
})
