/** Line-by-line differences of two texts. */

/** Longer texts are not compared line by line, which takes memory for every pair of lines. */
const MAX_LINES = 3000

/** Return a diff in the form of `diff -u0`; empty if the texts are equal. */
export function unifiedDiff(from: string, to: string, fromName: string, toName: string): string {
  if (from === to) return ''
  const [old, fresh] = [from.split('\n'), to.split('\n')]
  const hunks = Math.max(old.length, fresh.length) > MAX_LINES ? [whole(old, fresh)] : hunksOf(old, fresh)
  return [`--- ${fromName}`, `+++ ${toName}`, ...hunks.flatMap(shown)].join('\n')
}

/** A replacement of the lines `old` at `from` by the lines `fresh` at `to`. Both positions count from 0. */
interface Hunk {
  readonly from: number
  readonly to: number
  readonly old: string[]
  readonly fresh: string[]
}

const whole = (old: string[], fresh: string[]): Hunk => ({ from: 0, to: 0, old, fresh })

function hunksOf(old: readonly string[], fresh: readonly string[]): Hunk[] {
  const common = commonLengths(old, fresh)
  const at = (i: number, j: number) => common[i * (fresh.length + 1) + j] as number
  const hunks: Hunk[] = []
  let open: Hunk | undefined
  let [i, j] = [0, 0]
  while (i < old.length || j < fresh.length) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      open = undefined
      i++
      j++
      continue
    }
    if (!open) {
      open = { from: i, to: j, old: [], fresh: [] }
      hunks.push(open)
    }
    if (j === fresh.length || (i < old.length && at(i + 1, j) >= at(i, j + 1)))
      open.old.push(old[i++] as string)
    else open.fresh.push(fresh[j++] as string)
  }
  return hunks
}

/** Return, for each pair of positions, the length of the longest common subsequence of the lines after them. */
function commonLengths(old: readonly string[], fresh: readonly string[]): Uint16Array {
  const width = fresh.length + 1
  const lengths = new Uint16Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      const [down, right] = [lengths[(i + 1) * width + j] as number, lengths[i * width + j + 1] as number]
      const both = (lengths[(i + 1) * width + j + 1] as number) + 1
      lengths[i * width + j] = old[i] === fresh[j] ? both : Math.max(down, right)
    }
  }
  return lengths
}

function shown({ from, to, old, fresh }: Hunk): string[] {
  const place = (start: number, lines: readonly string[]) => {
    const line = lines.length === 0 ? start : start + 1
    return lines.length === 1 ? `${line}` : `${line},${lines.length}`
  }
  return [
    `@@ -${place(from, old)} +${place(to, fresh)} @@`,
    ...old.map((line) => `-${line}`),
    ...fresh.map((line) => `+${line}`),
  ]
}
