import { AsyncLocalStorage } from 'node:async_hooks'

const redirected = new AsyncLocalStorage<true>()
let isWatched = false

/**
 * Run `work` with its standard output redirected: what it, and what it leaves running, prints (`console.log`) goes to
 * standard error, so that `--out json` stays JSON.
 */
export function stdoutToStderr<T>(work: () => T): T {
  if (!isWatched) watchOutput()
  return redirected.run(true, work)
}

function watchOutput(): void {
  isWatched = true
  const { stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = ((...given: Parameters<typeof write>) =>
    redirected.getStore() ? stderr.write(...given) : write(...given)) as typeof write
}
