import { encodeNetwork } from '../codec/index.ts'

/** The event of a job, its record and each of its returns carry it. Bytes. */
const MOST_BYTES = 65_536

/** Why this metadata cannot go with a job, as a sentence; undefined if it can. */
export function metadataRefusal(metadata: unknown): string | undefined {
  if (metadata === undefined) return undefined
  const bytes = encodeNetwork(metadata).length
  return bytes <= MOST_BYTES
    ? undefined
    : `The metadata of the job takes ${bytes} bytes, and may take ${MOST_BYTES}: every event and return of the job carries it. Send what is bigger as an argument or a file.`
}
