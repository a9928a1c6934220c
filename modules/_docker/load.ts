import { createReadStream } from 'node:fs'
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { messageOf } from '#internal'
import { isFile } from '../_file/paths.ts'
import { address, DockerRefusal, docker, dockerEvents, type Json } from './api.ts'
import { allImages, inspectImage, topLevel } from './images.ts'
import { errorsIn, failureText } from './progress.ts'
import { redacted, withoutLogin } from './redact.ts'

/** Return the path of a file on this host; one of the file server is cached first. @throws CommandExecutionError */
export async function cachedSource(source: string, context: Context): Promise<string> {
  if (!source.startsWith('salt://')) return source
  const cached = await context.call('cp.cache_file', { path: source })
  if (typeof cached === 'string' && cached !== '') return cached
  throw new CommandExecutionError(`Unable to cache ${source}`)
}

interface Tag {
  readonly repository?: string | undefined
  readonly tag?: string | undefined
}

/** Load images from a file that `docker.save` wrote, and tag the topmost one, if that is wanted. */
export async function loadImages(path: string, { repository, tag }: Tag, context: Context): Promise<Json> {
  if (!repository !== !tag)
    throw new SaltInvocationError('If tagging, both a repository and tag are required')
  const file = await cachedSource(path, context)
  if (!(await isFile(file))) throw new CommandExecutionError(`Source file ${path} does not exist`)
  const before = await allImages(true, context)
  const since = Date.now()
  await load(file, path, context)
  const elapsed = (Date.now() - since) / 1000
  const after = await allImages(true, context)
  const fresh = Object.keys(after).filter((id) => !Object.hasOwn(before, id))
  return {
    Time_Elapsed: elapsed,
    Path: path,
    Layers: fresh.map((id) => id.slice(0, 12)),
    ...(repository && tag && (await tagged(topLevel(after, fresh), repository, tag, context))),
  }
}

async function load(file: string, path: string, context: Context): Promise<void> {
  const failure = `Failed to load image(s) from ${path}`
  const content = { bytes: createReadStream(file) }
  const events = await dockerEvents('POST', '/images/load?quiet=1', context, content).catch((error) => {
    if (!(error instanceof DockerRefusal)) throw error
    throw new CommandExecutionError(`${failure}: ${error.reason}`)
  })
  const errors = errorsIn(events)
  if (errors.length > 0) throw new CommandExecutionError(`${failure}: ${errors.join('; ')}`)
}

async function tagged(
  images: readonly string[],
  repository: string,
  tag: string,
  context: Context,
): Promise<Json> {
  const [image] = images
  if (image === undefined) return { Warning: 'No top-level image layers were loaded, no image was tagged' }
  if (images.length > 1)
    return {
      Warning: `More than one top-level image layer was loaded (${images.join(', ')}), no image was tagged`,
    }
  try {
    await tagImage(image, { repository, tag, force: false }, context)
    return { Image: `${repository}:${tag}` }
  } catch (error) {
    return { Warning: `Failed to tag ${image} as ${repository}:${tag}: ${messageOf(error)}` }
  }
}

/** Give an image a tag. */
export async function tagImage(
  name: string,
  { repository, tag, force }: { repository: string; tag: string; force: boolean },
  context: Context,
): Promise<true> {
  const { Id } = await inspectImage(name, context)
  await docker('POST', address(['images', String(Id), 'tag'], { repo: repository, tag, force }), context)
  return true
}

interface Imported {
  readonly source: string
  readonly repository: string
  readonly tag: string
  readonly api_response: boolean
}

/** Make an image of a tar archive of files: one of this host or the file server, or one that Docker fetches from a URL. */
export async function importImage(given: Imported, context: Context): Promise<Json> {
  const { source, repository, tag } = given
  const failure = `Import failed for ${redacted(source)}`
  const path = await cachedSource(source, context)
  const isUrl = /^(?:https?|ftp):\/\//i.test(path)
  if (!isUrl && !(await isFile(path))) throw new CommandExecutionError(`Source file ${source} does not exist`)
  const since = Date.now()
  const query = address(['images', 'create'], { fromSrc: isUrl ? path : '-', repo: repository, tag })
  const content = isUrl ? {} : { bytes: createReadStream(path) }
  const events = await dockerEvents('POST', query, context, content).catch(withoutLogin)
  const Id = events
    .map(({ status }) => String(status))
    .findLast((text) => /^(?:sha256:)?[\da-f]+$/i.test(text))
  if (Id === undefined) throw new CommandExecutionError(failureText(failure, events))
  return {
    Time_Elapsed: (Date.now() - since) / 1000,
    ...(given.api_response && { API_Response: events }),
    Image: `${repository}:${tag}`,
    Id,
  }
}
