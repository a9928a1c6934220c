/** The master's file server. */
import { type Context, type FileLists, fn, p } from 'salt-ts'

const backend = p.optional(
  p.union(
    p.string({ description: 'Names, separated by commas; -name leaves one out.' }),
    p.array(p.string()),
  ),
)
const params = { saltenv: p.default(p.string(), 'base'), backend }

const listed = (of: (lists: FileLists) => unknown) =>
  fn(params, async ({ saltenv, backend }, { master }) =>
    of(await master.fileServer.list(saltenv, namesIn(backend))),
  )

/**
 * List the environments of the file server; with `sources=True` by backend.
 *
 * @example salt-run fileserver.envs
 * @example salt-run fileserver.envs backend=roots sources=True
 */
export const envs = fn(
  { backend, sources: p.default(p.boolean(), false) },
  async ({ backend, sources }, { master }) => {
    const found = await master.fileServer.envs(namesIn(backend))
    return sources ? found : [...new Set(Object.values(found).flat())].sort()
  },
)

/** List the files in an environment.
 *  @example salt-run fileserver.file_list saltenv=prod */
export const file_list = listed(({ files }) => files)

/** List the folders in an environment.
 *  @example salt-run fileserver.dir_list */
export const dir_list = listed(({ dirs }) => dirs)

/** List the empty folders in an environment.
 *  @example salt-run fileserver.empty_dir_list */
export const empty_dir_list = listed(({ emptyDirs }) => emptyDirs)

/** List the links in an environment, with their targets.
 *  @example salt-run fileserver.symlink_list */
export const symlink_list = listed(({ links }) => links)

/**
 * Make the master read the folders of its file server again. It notices changes itself; this is for file systems that
 * do not record when a folder changed. Returns the affected environments, by backend.
 *
 * @example salt-run fileserver.clear_file_list_cache saltenv=base,dev
 */
export const clear_file_list_cache = fn(
  { saltenv: p.optional(p.union(p.string(), p.array(p.string()))), backend },
  ({ saltenv, backend }, { master }) => master.fileServer.clearListCache(namesIn(saltenv), namesIn(backend)),
)

/**
 * Make backends fetch changes. Folders of this host are always up to date, so for `roots` this only reads the folders
 * again.
 *
 * @example salt-run fileserver.update
 */
export const update = fn({ backend }, async ({ backend }, { master }: Context) => {
  await master.fileServer.clearListCache(undefined, namesIn(backend))
  return true
})

const remote = p.optional(p.string({ description: 'Part of the address of a remote.' }))

/**
 * Delete what backends have fetched. `roots` serves folders of this host and fetches nothing.
 *
 * @example salt-run fileserver.clear_cache
 */
export const clear_cache = fn({ backend }, nothingFetched('No cache was cleared'))

/**
 * Keep backends from fetching changes until `clear_lock`. `roots` fetches nothing.
 *
 * @example salt-run fileserver.lock
 */
export const lock = fn({ backend, remote }, nothingFetched('No locks were set'))

/**
 * Allow backends to fetch changes again. `roots` fetches nothing.
 *
 * @example salt-run fileserver.clear_lock
 */
export const clear_lock = fn({ backend, remote }, nothingFetched('No locks were removed'))

/** Make a function that checks the backends and returns `answer`: built-in backends fetch nothing. */
function nothingFetched(answer: string) {
  return async ({ backend }: { backend?: string | readonly string[] | undefined }, { master }: Context) => {
    await master.fileServer.envs(namesIn(backend))
    return answer
  }
}

function namesIn(names: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof names === 'string' ? names.split(',').map((name) => name.trim()) : names
}
