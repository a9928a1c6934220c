/** Lists of minion keys by state, as `salt-key` shows them. */
import { outputter } from 'salt-ts'
import { type Color, painter, type Screen, screen } from './_colors.ts'
import { nested } from './_nested.ts'
import { rstrip, strOf } from './_python.ts'
import { compare, entriesOf, isSortable, kindOf, listOf, sortedEntriesOf } from './_values.ts'

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
  render(value, options) {
    if (!isKeyList(value)) return nested(value, options)
    const paint = painter(options)
    const lines = sortedEntriesOf(value).flatMap(([state, keys]) => {
      const { title, titleColor, color } = SECTIONS.get(state) as Section
      return [paint(titleColor, title), ...rows(keys, screen(options)).map((row) => paint(color, row))]
    })
    return rstrip(lines.join('\n'))
  },
})

/** Whether the value is a map from states to lists or maps whose ids can be sorted. */
function isKeyList(value: unknown): boolean {
  if (kindOf(value) !== 'map') return false
  return entriesOf(value).every(([state, keys]) => SECTIONS.has(state) && isSortable(idsOf(keys)))
}

function idsOf(keys: unknown): [unknown, unknown][] {
  if (kindOf(keys) === 'list') return listOf(keys).map((id) => [id, undefined])
  return kindOf(keys) === 'map' ? entriesOf(keys) : []
}

/** Return the ids of a list, or `id:  text` for a map (fingerprints, keys). Line ends in keys stay. */
function rows(keys: unknown, safe: Screen): string[] {
  const text = kindOf(keys) === 'map' ? (value: unknown) => `:  ${strOf(value)}` : () => ''
  return idsOf(keys)
    .sort(([a], [b]) => compare(a, b))
    .map(([id, value]) => safe(strOf(id)) + text(value))
}
