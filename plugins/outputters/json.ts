/** JSON. `--out-indent`: spaces per level, negative for one line, `pretty` for sorted keys. */
import { jsonText, outputter } from 'salt-ts'
import { reprOf } from './_python.ts'
import { kindOf, sortedEntriesOf } from './_values.ts'

export default outputter({
  render(value, { indent }) {
    const pretty = (indent as unknown) === 'pretty'
    const step = indent === undefined || pretty ? 4 : indent === null || indent < 0 ? undefined : indent
    return jsonText(value, { step, other: textOf, ...(pretty && { order: sortedEntriesOf }) })
  },
})

/** Return the text for a value that JSON cannot represent: a date in ISO form, anything else as Python shows it. */
const textOf = (value: unknown): string => (kindOf(value) === 'date' ? String(value) : reprOf(value))
