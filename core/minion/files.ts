import type { Log, MinionServices } from '../author/context.ts'
import type { SyncReport, SyncRequest } from '../author/files.ts'
import type { MinionConfig } from '../config/index.ts'
import {
  type FileClientSettings,
  hasChanged,
  localFileServer,
  openFileClient,
  syncExtensions,
} from '../fileserver/index.ts'

export interface FileServicesSettings {
  readonly config: Pick<
    MinionConfig,
    'cachedir' | 'file_client' | 'fileserver_backend' | 'file_buffer_size' | 'hash_type'
  >
  readonly grains: Readonly<Record<string, unknown>>
  readonly log: Log
  readonly request: MinionServices['request']
  readonly delegate?: FileClientSettings['delegate']
  refreshModules(): Promise<unknown>
  refreshGrains(): Promise<unknown>
  /** Do not import synced files to check that they load. */
  readonly unseen?: boolean
}

/** Create the services for files and extensions of the master, or of this host with `file_client: local`. */
export function createFileServices(settings: FileServicesSettings): Pick<MinionServices, 'files' | 'sync'> {
  const { config, log, request, delegate } = settings
  const { cachedir } = config
  const isLocal = config.file_client === 'local'
  const files = openFileClient(
    isLocal
      ? { ask: localFileServer({ ...config }, log).ask, cachedir }
      : { ask: request, delegate, cachedir },
  )
  return { files, sync: (wanted) => syncAndRefresh(wanted, files, settings) }
}

async function syncAndRefresh(
  request: SyncRequest,
  files: MinionServices['files'],
  { config, grains, log, unseen = false, ...minion }: FileServicesSettings,
): Promise<SyncReport> {
  const report = await syncExtensions(request, {
    files,
    config: { ...config },
    grains,
    log,
    role: 'minion',
    skipImport: unseen,
  })
  const changed = Object.keys(report).filter((type) => hasChanged(report[type]!))
  if (request.refresh === false || changed.length === 0) return report
  await (changed.includes('grains') ? minion.refreshGrains() : minion.refreshModules())
  return report
}
