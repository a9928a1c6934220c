import type { Log } from '../author/context.ts'
import type { Ask } from './download.ts'
import { FileServer, type FileServerConfig } from './file-server.ts'
import { fileRequests } from './requests.ts'

/** Create a file server in this process, opened on first use. `ask` answers the same requests as a master. */
export function localFileServer(
  config: FileServerConfig,
  log: Log,
): { readonly ask: Ask; server(): Promise<FileServer> } {
  let server: Promise<FileServer> | undefined
  let requests: Promise<ReturnType<typeof fileRequests>> | undefined
  const open = () => (server ??= FileServer.open(config, log))
  return {
    server: open,
    async ask(load) {
      requests ??= open().then((opened) => fileRequests(opened, config))
      return (await requests).get(String(load.cmd))?.(load)
    },
  }
}
