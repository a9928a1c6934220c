/** Salt's way to call a function as it is; the only one there is so far. */
const DIRECT = 'direct_call'

/** Why a job cannot be run with the executors it names (`--module-executors`), as a sentence; undefined if it can. */
export function executorRefusal(executors: unknown): string | undefined {
  const named = (Array.isArray(executors) ? executors : [executors ?? DIRECT]).map(String)
  const missing = named.find((name) => name !== DIRECT && name !== '')
  return missing === undefined
    ? undefined
    : `There is no executor '${missing}' on this minion, so nothing was run. There is: ${DIRECT}. Leave out --module-executors.`
}
