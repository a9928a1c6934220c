/**
 * Return the candidate nearest to a misspelt word ("did you mean"), if one is near enough: at most a third of the
 * characters may be wrong, and no more than `mistakes`.
 */
export function closest(
  word: string,
  candidates: Iterable<string>,
  mistakes = Number.POSITIVE_INFINITY,
): string | undefined {
  if (word.length > 100) return undefined
  let best: string | undefined
  let bestDistance = Math.min(Math.floor(Math.max(word.length, 3) / 3), mistakes) + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/** Return the question to append to a message about an unknown name; empty if no known name is near. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const nearest = closest(name, known)
  return nearest === undefined || nearest === name ? '' : ` Did you mean '${nearest}'?`
}

/** Count the insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1]
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1))
      if (swapped) row[j] = Math.min(row[j]!, beforeLast[j - 2]! + 1)
    }
    ;[beforeLast, last] = [last, row]
  }
  return last[to.length]!
}
