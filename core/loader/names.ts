/** `mod.fun` at the first point. */
export function splitName(name: string): [module: string, own: string | undefined] {
  const at = name.indexOf('.')
  return at < 0 ? [name, undefined] : [name.slice(0, at), name.slice(at + 1)]
}

/** Functions whose name begins so are nobody's but their file's (Salt's rule). */
export const isPrivate = (name: string): boolean => name.startsWith('_')
