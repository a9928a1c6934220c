/** The clients of salt-api, by what they do with a command. */
export const apiClients = {
  publish: ['local', 'local_async', 'local_batch', 'local_subset'],
  runner: ['runner', 'runner_async'],
  wheel: ['wheel', 'wheel_async'],
} as const

/** In the order Salt lists them. */
export const API_CLIENTS = Object.values(apiClients).flat()
