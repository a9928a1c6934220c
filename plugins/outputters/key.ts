/** Lists of minion keys by state, as `salt-key` shows them. */
import { outputter } from 'salt-ts'
import { type Color, type Paint, painter, withoutControls } from './_colors.ts'
import { strOf } from './_python.ts'
import { kindOf, listOf, sortedEntriesOf } from './_values.ts'

interface Section {
  readonly title: string
  readonly titleColor: Color
  readonly color: Color
}

const SECTIONS = new Map<unknown, Section>([
  ['local', { title: 'Local Keys:', titleColor: 'lightMagenta', color: 'magenta' }],
  ['minions', { title: 'Accepted Keys:', titleColor: 'lightGreen', color: 'green' }],
  ['minions_denied', { title: 'Denied Keys:', titleColor: 'lightMagenta', color: 'magenta' }],
  ['minions_pre', { title: 'Unaccepted Keys:', titleColor: 'lightRed', color: 'red' }],
  ['minions_rejected', { title: 'Rejected Keys:', titleColor: 'lightBlue', color: 'blue' }],
])

export default outputter({
  render(value, { color }) {
    if (kindOf(value) !== 'map') return strOf(value)
    const paint = painter(color)
    return sortedEntriesOf(value)
      .flatMap(([state, keys]) => section(strOf(state), keys, paint))
      .join('\n')
      .trimEnd() // as Salt's programs print it; keys end with a line end of their own
  },
})

function section(state: string, keys: unknown, paint: Paint): string[] {
  const { title, titleColor, color } = SECTIONS.get(state) ?? {
    title: `${state}:`,
    titleColor: 'cyan',
    color: 'cyan',
  }
  return [paint(titleColor, title), ...rows(keys).map((row) => paint(color, row))]
}

/** Ids from a list, or `id:  text` from a map (fingerprints, keys). Line ends of keys stay. */
function rows(keys: unknown): string[] {
  if (kindOf(keys) === 'list')
    return listOf(keys)
      .map((id) => withoutControls(strOf(id)))
      .sort()
  if (kindOf(keys) !== 'map') return [strOf(keys)]
  return sortedEntriesOf(keys).map(([id, text]) => `${withoutControls(strOf(id))}:  ${strOf(text)}`)
}
