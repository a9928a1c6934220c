declare const brand: unique symbol

/**
 * A relative path that cannot leave the directory it is joined to: no `..`, no NUL, and nothing the system would refuse.
 * Text from a peer becomes a path on disk only through {@link safePath}; `openInside` guards against symbolic links.
 */
export type SafePath = string & { readonly [brand]: true }

/** Longest name on Linux, in bytes. */
const MAX_NAME = 255
/** Longest relative path, in bytes. Linux allows 4096; the rest is for the directory it is joined to. */
const MAX_PATH = 3072

const loneSurrogate = /\p{Surrogate}/u

/**
 * Return the path without empty parts and `.`, or undefined if it is not text, is empty, absolute or too long, or
 * contains `..`, a NUL or a lone surrogate.
 */
export function safePath(path: unknown): SafePath | undefined {
  if (typeof path !== 'string' || path.startsWith('/') || Buffer.byteLength(path) > MAX_PATH) return undefined
  return joined(path.split('/').filter((name) => name !== '' && name !== '.'))
}

/** Check a single name: a path without directories. */
export function safeName(name: unknown): SafePath | undefined {
  return typeof name === 'string' ? safeParts([name]) : undefined
}

/** Join a path from its parts, each of which must be a single name. */
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
