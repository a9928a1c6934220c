import { float } from '../_host/numbers.ts'

/** Return the n-th Fibonacci number; a bigint where a number would not be exact. */
export function fibonacci(n: number): number | bigint {
  let [a, b] = [0n, 1n]
  for (let i = 0; i < n; i++) [a, b] = [b, a + b]
  return a <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(a) : a
}

/**
 * Return the Collatz sequence from a number down to 1, without the 1: n/2 follows an even n, 3n + 1 an odd one. As in Python, all numbers
 * from the first n/2 on are floats.
 */
export function collatzSteps(start: number): unknown[] {
  const steps: number[] = []
  for (let n = start; n > 1; n = n % 2 === 0 ? n / 2 : n * 3 + 1) steps.push(n)
  const even = steps.findIndex((n) => n % 2 === 0)
  return steps.map((n, at) => (at > even ? float(n) : n))
}

/** Return a result and the seconds it took to compute. */
export function timed<T>(compute: () => T): [T, number] {
  const begin = performance.now()
  const result = compute()
  return [result, (performance.now() - begin) / 1000]
}
