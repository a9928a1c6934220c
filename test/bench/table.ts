/** Lines of a Markdown table; the first row is its head. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const [head = []] = rows
  const widths = head.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.slice(1).map(line)]
}
