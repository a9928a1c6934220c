/** Folds many ids into a short text: `web[01-40,43],db1`. */

/** Ids that differ in one number. */
interface Family {
  readonly before: string
  readonly after: string
  readonly numbers: string[]
}

/**
 * Return the ids, sorted and folded: those that differ in one number become `web[01-40,43]`. The text can be
 * unfolded: numbers of a range have as many digits as counting up from its first number gives (`8-11`, `08-11`); ids
 * with commas or quotes are quoted as in JSON, and no id has brackets.
 */
export function foldedIds(ids: readonly string[]): string {
  const shapes = new Map<string, string[][]>()
  for (const id of [...new Set(ids)].sort()) {
    const parts = /[,"]/.test(id) ? [JSON.stringify(id)] : id.split(/(\d+)/)
    const shape = parts.map((part, n) => (n % 2 ? '\0' : part)).join('')
    shapes.set(shape, [...(shapes.get(shape) ?? []), parts])
  }
  return [...shapes.values()].flatMap(familiesOf).map(folded).join(',')
}

/** Group ids of one shape by the number that differs most. */
function familiesOf(members: readonly string[][]): Family[] {
  const width = members[0]?.length ?? 0
  let [place, most] = [1, 0]
  for (let n = 1; n < width; n += 2) {
    const values = new Set(members.map((parts) => parts[n])).size
    if (values >= most) [place, most] = [n, values]
  }
  const families = new Map<string, Family>()
  for (const parts of members) {
    const [before, after] = [parts.slice(0, place).join(''), parts.slice(place + 1).join('')]
    const family = families.get(`${before}\0${after}`) ?? { before, after, numbers: [] }
    families.set(`${before}\0${after}`, family)
    family.numbers.push(parts[place] ?? '')
  }
  return [...families.values()]
}

function folded({ before, after, numbers }: Family): string {
  if (numbers.length === 1) return `${before}${numbers[0]}${after}`
  return `${before}[${rangesOf(numbers).join(',')}]${after}`
}

function rangesOf(numbers: readonly string[]): string[] {
  const sorted = [...numbers].sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
  const ranges: string[][] = []
  for (const number of sorted) {
    const last = ranges.at(-1)
    if (last && successor(last.at(-1) as string) === number) last.push(number)
    else ranges.push([number])
  }
  return ranges.flatMap((range) => (range.length > 2 ? [`${range[0]}-${range.at(-1)}`] : range))
}

/** Return the next number, zero-padded to the same length. */
const successor = (number: string): string => String(BigInt(number) + 1n).padStart(number.length, '0')
