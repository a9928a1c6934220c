import type { Caller } from '../../auth/index.ts'
import { encodeNetwork } from '../../codec/index.ts'
import type { PublishLoad } from '../../wire/publish-request.ts'
import type { WorkerContext } from '../worker/context.ts'
import { deliveryRefusal } from './delivery.ts'
import { chosenJidRefusal } from './jids.ts'

/** Limits the metadata of a job: its event, its record and each of its returns carry it. */
const MAX_METADATA_BYTES = 65_536

/** Return why a job cannot be published as requested, whatever it runs, as a sentence; undefined if it can. */
export const optionsRefusal = (
  context: Pick<WorkerContext, 'config' | 'nextJid' | 'publications'>,
  { jid, kwargs, deliverWithin = 0 }: PublishLoad,
  caller: Caller,
): string | undefined =>
  metadataRefusal(kwargs.metadata) ??
  (deliverWithin === 0 ? undefined : deliveryRefusal(context, deliverWithin)) ??
  (caller.unrestricted ? undefined : chosenJidRefusal(jid, context.nextJid()))

function metadataRefusal(metadata: unknown): string | undefined {
  if (metadata === undefined) return undefined
  const bytes = encodeNetwork(metadata).length
  return bytes <= MAX_METADATA_BYTES
    ? undefined
    : `The metadata of the job has ${bytes} bytes; at most ${MAX_METADATA_BYTES} are allowed, because every event and return of the job carries it. Send larger data as an argument or a file.`
}
