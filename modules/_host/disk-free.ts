import { CommandExecutionError } from 'salt-ts'

const FLAGS = ['a', 'B', 'h', 'H', 'i', 'k', 'l', 'P', 't', 'T', 'x', 'v']

/** Return letters that people pass for df as one option. @throws CommandExecutionError for others */
export function dfFlags(given: string | undefined, caller: string): string[] {
  const letters = [...(given ?? '')]
  if (letters.some((letter) => !FLAGS.includes(letter))) {
    throw new CommandExecutionError(`Invalid flag passed to ${caller}`)
  }
  return letters.length === 0 ? [] : [`-${letters.join('')}`]
}

/** Split the output of `df -P` into rows of six columns; the name of a device may contain spaces. */
export function readDf(lines: readonly string[]): string[][] {
  const rows = lines.filter((line) => line !== '' && !line.startsWith('Filesystem'))
  return rows.flatMap((line) => {
    const words = line.split(/\s+/).filter(Boolean)
    const at = words.findIndex((word, index) => index > 0 && /^\d+$/.test(word))
    const row = at < 0 ? [] : [words.slice(0, at).join(' '), ...words.slice(at)]
    return row.length > 5 ? [[...row.slice(0, 5), row.slice(5).join(' ')]] : []
  })
}

/** Split the output of `df -iP`, whose counts may be `-`. */
export function readInodes(lines: readonly string[]): string[][] {
  const row = /^(.+?)\s+(\d\S*|-)\s+(\d\S*|-)\s+(\d\S*|-)\s+(\d+%|-)\s+(.+)$/
  return lines.flatMap((line) => {
    const columns = row.exec(line)
    return columns ? [columns.slice(1)] : []
  })
}
