import type { Context } from 'salt-ts'
import { messageOf } from '#internal'
import { address, dockerJson, filterText, type Json } from './api.ts'
import { allImages, isTagged, topLevel } from './images.ts'
import { removeImages } from './remove-images.ts'

interface Removal {
  readonly prune: boolean
  readonly force: boolean
}

/** Return the images without a tag from which no other one was made; or remove them, and return what became of each. */
export async function danglingImages({ prune, force }: Removal, context: Context): Promise<string[] | Json> {
  const images = await allImages(true, context)
  const ids = topLevel(images).filter((id) => !isTagged(images[id]!))
  if (!prune) return ids.map((id) => id.slice(0, 12))
  const removed: Record<string, Json> = {}
  for (const id of ids) removed[id.slice(0, 12)] = await removal(id, force, context)
  return removed
}

async function removal(id: string, force: boolean, context: Context): Promise<Json> {
  try {
    return { Removed: await removeImages([id], { force, prune: true }, context) }
  } catch (error) {
    context.signal.throwIfAborted()
    context.retcode = 1
    return { Comment: messageOf(error), Removed: false }
  }
}

interface Choice {
  readonly containers: boolean
  readonly networks: boolean
  readonly images: boolean
  readonly build: boolean
  readonly volumes: boolean
  readonly system?: boolean | undefined
}

/** Remove what is not used: of the chosen kinds, or of all but volumes. */
export async function pruneUnused(chosen: Choice, filters: Json, context: Context): Promise<Json> {
  const { containers, images, networks, build, volumes } = chosen
  const system = chosen.system ?? !(containers || images || networks || build)
  const lists = Object.entries(filters).map(([key, value]) => [key, isText(value) ? listIn(value) : value])
  const query = { filters: filterText(Object.fromEntries(lists)) }
  const prune = (kind: string, how: object = query) =>
    dockerJson<Json>('POST', address([kind, 'prune'], { ...how }), context)
  return {
    ...((system || containers) && { containers: await prune('containers') }),
    ...((system || images) && { images: await prune('images') }),
    ...((system || networks) && { networks: await prune('networks') }),
    ...((system || build) && { build: await prune('build', {}) }),
    ...(volumes && { volumes: await prune('volumes') }),
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'
const listIn = (text: string): string[] => text.split(',').map((part) => part.trim())
