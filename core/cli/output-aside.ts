import { AsyncLocalStorage } from 'node:async_hooks'

const aside = new AsyncLocalStorage<true>()
let isWatched = false

/**
 * Do work whose own output is no result: what it, and what it leaves running, writes to standard output
 * (`console.log`) goes to standard error, so that `--out json` stays JSON.
 */
export function outputAside<T>(work: () => T): T {
  if (!isWatched) watchOutput()
  return aside.run(true, work)
}

function watchOutput(): void {
  isWatched = true
  const { stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = ((...given: Parameters<typeof write>) =>
    aside.getStore() ? stderr.write(...given) : write(...given)) as typeof write
}
