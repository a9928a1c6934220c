declare const brand: unique symbol

/**
 * A relative path that stays where it is put: no way up, not absolute, no NUL, nothing the system would refuse. What
 * came from a peer becomes a path of the disk only through {@link safePath}; links are seen to by `openInside`.
 */
export type SafePath = string & { readonly [brand]: true }

/** Bytes of a name and of a path, as Linux has them; the rest is for the folder it is put in. */
const MAX_NAME = 255
const MAX_PATH = 3072

const loneSurrogate = /\p{Surrogate}/u

/**
 * The path without empty parts and `.`, or undefined if it is no text, empty, absolute, too long, or has `..`, a NUL
 * or text that is no Unicode in it.
 */
export function safePath(path: unknown): SafePath | undefined {
  if (typeof path !== 'string' || path.startsWith('/') || Buffer.byteLength(path) > MAX_PATH) return undefined
  return joined(path.split('/').filter((name) => name !== '' && name !== '.'))
}

/** One name: a path without folders. */
export function safeName(name: unknown): SafePath | undefined {
  return typeof name === 'string' ? safeParts([name]) : undefined
}

/** A path from its parts, each of which must be a name. */
export function safeParts(names: unknown): SafePath | undefined {
  if (!Array.isArray(names) || !names.every(isPlainName)) return undefined
  return joined(names)
}

const isPlainName = (name: unknown): name is string =>
  typeof name === 'string' && name !== '' && name !== '.' && !name.includes('/')

function joined(names: readonly string[]): SafePath | undefined {
  const path = names.join('/')
  const isSafe = names.length > 0 && Buffer.byteLength(path) <= MAX_PATH && names.every(isSafeName)
  return isSafe ? (path as SafePath) : undefined
}

function isSafeName(name: string): boolean {
  return (
    name !== '..' && !name.includes('\0') && !loneSurrogate.test(name) && Buffer.byteLength(name) <= MAX_NAME
  )
}
