import { SaltError } from '../base/errors.ts'

/** Deeper than any argument; what is passed on is gone through by code that calls itself. */
const MAX_DEPTH = 50
/** Maps with these change what all others have, where somebody copies them carelessly. */
const POISON = new Set(['__proto__'])

/**
 * Refuse a value that could harm who works with it: nested too deep, greater than `most` (about its bytes) once what a
 * document names twice is written out, or with a key that means something to JavaScript.
 *
 * @throws SaltError INVALID_ARGUMENTS, TOO_LARGE
 */
export function checkInput<T>(value: T, most: number): T {
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }]
  let size = 0
  for (let next = open.pop(); next; next = open.pop()) {
    size += weight(next.value)
    if (size > most) throw new SaltError('TOO_LARGE', `The request is greater than ${most} bytes.`)
    if (typeof next.value !== 'object' || next.value === null) continue
    if (next.depth >= MAX_DEPTH) throw wrong(`It is nested more than ${MAX_DEPTH} deep.`)
    const depth = next.depth + 1
    for (const [key, member] of membersOf(next.value)) {
      if (POISON.has(key)) throw wrong(`A key may not be ${key}.`)
      if (key === 'constructor' && isObject(member) && Object.hasOwn(member, 'prototype'))
        throw wrong('A key may not be constructor with a prototype in it.')
      size += key.length
      open.push({ value: member, depth })
    }
  }
  return value
}

function membersOf(value: object): [string, unknown][] {
  if (Array.isArray(value)) return value.map((member) => ['', member])
  return value instanceof Map
    ? [...value].map(([key, member]) => [String(key), member])
    : Object.entries(value)
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const weight = (value: unknown): number => (typeof value === 'string' ? value.length + 2 : 2)

const wrong = (sentence: string): SaltError => new SaltError('INVALID_ARGUMENTS', sentence)
