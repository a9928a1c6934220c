/** Only the returned values, one per line, without ids. */
import { outputter } from 'salt-ts'
import { nested } from './_nested.ts'
import { rstrip, strOf } from './_python.ts'
import { entriesOf, kindOf, listOf } from './_values.ts'

export default outputter({
  render(value, options) {
    if (kindOf(value) !== 'map') return nested(value, options)
    const values = entriesOf(value).flatMap(([, returned]) =>
      kindOf(returned) === 'list' ? listOf(returned) : [returned],
    )
    return rstrip(values.map(strOf).join('\n'))
  },
})
