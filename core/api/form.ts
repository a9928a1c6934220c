/** The values of each name in a form (`a=1&b=2&a=3`), in the order they came. */
export function formValues(text: string): Map<string, string[]> {
  const values = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(text)) {
    const all = values.get(name)
    if (all) all.push(value)
    else values.set(name, [value])
  }
  return values
}
