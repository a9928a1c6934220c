/** Return a Markdown table. Columns are not aligned in the source, so that a changed cell changes one line. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Return text for a cell of a table: on one line, with no `|` that would end the cell, and no `<` that would begin a tag. */
export const cellText = (text: string): string =>
  text
    .replace(/\s*\n\s*/g, ' ')
    .replaceAll('|', '\\|')
    .replace(/`[^`]*`|<(?=\w)/g, (found) => (found === '<' ? '&lt;' : found))
