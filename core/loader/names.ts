/** Split `mod.fun` at the first dot. */
export function splitName(name: string): [module: string, own: string | undefined] {
  const at = name.indexOf('.')
  return at < 0 ? [name, undefined] : [name.slice(0, at), name.slice(at + 1)]
}

/** Whether a function is private to its file by its name (Salt's rule). */
export const isPrivate = (name: string): boolean => name.startsWith('_')
