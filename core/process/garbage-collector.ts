import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Return a function that collects garbage and returns the memory to the system, in about 10 ms. V8 alone waits until it needs
 * memory.
 */
export function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
}
