import { connect } from 'node:net'

/** Whether something listens at an address; false if that is not known after `ms` milliseconds. The name is resolved anew. */
export const isReachable = (
  { host, port }: { readonly host: string; readonly port: number },
  ms: number,
): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port })
    const end = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(ms, () => end(false))
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
