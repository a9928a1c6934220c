import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Give a function that collects garbage, and gives the memory back to the system; it takes about 10 ms. V8 itself waits until it needs memory. */
export function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
}
