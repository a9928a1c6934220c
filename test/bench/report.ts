import { type Measured, median } from './measure.ts'

export function report(measured: readonly Measured[], about: object): string {
  const lines = [JSON.stringify(about)]
  const names = [...(measured[0]?.figures.keys() ?? [])]
  for (const name of names) {
    const values = measured.map(({ figures }) => figures.get(name) ?? [])
    const [ours, theirs] = values.map(median)
    lines.push(
      `${name.padEnd(20)} ${values.map((v) => `${median(v).toFixed(1)} (${v.length > 3 ? '' : v.map((x) => x.toFixed(0)).join(' ')})`.padEnd(40)).join(' ')} ${theirs ? ((ours ?? 0) / theirs).toFixed(3) : ''}`,
    )
  }
  return `${lines.join('\n')}\n`
}
