/** Append a value to the list of a key. */
export function append<T>(lists: Record<string, T[]>, key: string, value: T): void {
  const list = lists[key]
  if (list) list.push(value)
  else lists[key] = [value]
}
