import { CommandExecutionError, type Context, p, SaltInvocationError } from 'salt-ts'
import { address, dockerEvents, type Json } from './api.ts'
import { buildContext } from './build-context.ts'
import { allAuthHeader } from './credentials.ts'
import { allImages, tagsOf } from './images.ts'
import { failureText, pulled } from './progress.ts'
import { redacted, withoutLogin } from './redact.ts'

const text = p.optional(p.string())
const flag = (fallback: boolean) => p.default(p.boolean(), fallback)

/** The parameters of `docker.build`. */
export const buildParams = {
  path: text,
  repository: text,
  tag: p.optional(p.union(p.string(), p.number())),
  cache: flag(true),
  rm: flag(true),
  api_response: flag(false),
  fileobj: p.optional(p.any({ description: 'Not available: Salt has it for its own code.' })),
  dockerfile: text,
  buildargs: p.secret(p.optional(p.record(p.any()))),
}

interface Build {
  readonly path?: string | undefined
  readonly repository?: string | undefined
  readonly tag?: string | number | undefined
  readonly cache: boolean
  readonly rm: boolean
  readonly api_response: boolean
  readonly fileobj?: unknown
  readonly dockerfile?: string | undefined
  readonly buildargs?: Json | undefined
}

const URL_START = /^(?:https?:\/\/|git:\/\/|github\.com\/|git@)/

/** Build an image, and say what it is and what was pulled for it. */
export async function buildImage(given: Build, context: Context): Promise<Json> {
  const { path, repository, tag = 'latest' } = given
  if (given.fileobj !== undefined)
    throw new SaltInvocationError(
      'fileobj cannot be given; write the Dockerfile into a folder, and give its path.',
    )
  if (!path)
    throw new SaltInvocationError('Unable to perform build: the path of a folder, or a URL, must be given.')
  if (!repository && given.tag !== undefined)
    throw new SaltInvocationError('If tagging, both a repository and tag are required')
  const image = repository ? `${repository}:${tag}` : undefined
  const before = Object.keys(await allImages(true, context)).map((id) => id.slice(0, 12))
  const since = Date.now()
  const events = await build(given, image, context)
  const { retcode: _, Errors: __, ...moved } = pulled(events, before)
  const built = builtIn(events)
  if (built.Id === undefined)
    throw new CommandExecutionError(redacted(failureText(`Build failed for ${path}`, events)))
  const Image = await tagsOf(built.Id, context)
  return {
    Time_Elapsed: (Date.now() - since) / 1000,
    ...moved,
    Id: built.Id,
    ...(Image ? { Image } : { Warning: `Failed to tag image as ${image ?? 'None'}` }),
    ...(given.api_response && { API_Response: events }),
    ...(!given.rm && built.containers.length > 0 && { Intermediate_Containers: built.containers }),
  }
}

async function build(given: Build, image: string | undefined, context: Context): Promise<Json[]> {
  const { path = '', dockerfile, buildargs, cache, rm } = given
  const folder = URL_START.test(path) ? undefined : await buildContext(path, dockerfile)
  const args = buildargs && Object.entries(buildargs).map(([key, value]) => [key, String(value)])
  const query = address(['build'], {
    t: image,
    q: false,
    nocache: !cache,
    rm,
    remote: folder ? undefined : path,
    dockerfile: folder ? folder.dockerfile : dockerfile,
    buildargs: args && JSON.stringify(Object.fromEntries(args)),
  })
  const headers = await allAuthHeader(context)
  const content = { headers, ...(folder && { bytes: folder.archive }) }
  return dockerEvents('POST', query, context, content).catch(withoutLogin)
}

interface Built {
  readonly Id: string | undefined
  /** Containers of the steps. */
  readonly containers: readonly string[]
}

function builtIn(events: readonly Json[]): Built {
  const lines = events.flatMap(({ stream }) => (typeof stream === 'string' ? [stream.trimEnd()] : []))
  const lastWords = (start: string) =>
    lines.filter((line) => line.includes(start)).map((line) => line.split(/\s+/).at(-1)!)
  const id = events.map(({ aux }) => (aux as { ID?: string } | undefined)?.ID).findLast(Boolean)
  return { Id: lastWords('Successfully built').at(-1) ?? id, containers: lastWords('Running in') }
}
