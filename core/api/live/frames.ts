import { jsonText } from '../../base/json.ts'
import { type Event, tags } from '../../events/index.ts'

/** What readers of events get, encoded once for all of them. */
export interface Frame {
  /** Bytes. */
  readonly length: number
  /** For readers of server-sent events. */
  readonly sse: Buffer
  /** For websockets, as rest_cherrypy and as rest_tornado send it; none of a remark: there is no room for one. */
  readonly websocket?: Buffer
  readonly plain?: Buffer
  /** Of what it is about; those of nobody in particular have none. */
  readonly tag?: string
  readonly jid?: string
  /** It tells of a job or run, whether that has an id or not. */
  readonly ofJob?: boolean
  /** Whose it is, if the event itself says so. */
  readonly owner?: string
}

/** An event: `tag: …`, `data: {…}` and an empty line, as Salt's `/events`. Websockets get it without the first line. */
export class EventFrame implements Frame {
  readonly sse: Buffer
  readonly websocket: Buffer
  readonly plain: Buffer
  readonly tag: string
  readonly jid?: string
  readonly ofJob: boolean
  readonly owner?: string

  constructor({ tag, data }: Event) {
    const head = `tag: ${tag.replace(/[\r\n]+/g, ' ')}\n`
    const start = Buffer.byteLength(head)
    this.sse = Buffer.from(`${head}data: ${eventJson({ tag, data })}\n\n`)
    this.websocket = this.sse.subarray(start)
    this.plain = this.sse.subarray(start + 'data: '.length, -2)
    this.tag = tag
    const jid = tags.jidOf(tag) ?? jidIn(data)
    if (jid !== undefined) this.jid = jid
    this.ofJob = OF_JOB.test(tag)
    if (typeof data.owner === 'string') this.owner = data.owner
  }

  get length(): number {
    return this.sse.length
  }
}

/** A line that clients skip, but people see. */
export function remark(text: string): Frame {
  const sse = Buffer.from(`: ${text}\n\n`)
  return { sse, length: sse.length }
}

/** JSON of what came from the bus. Bytes that are no text are shown as well as they can be. */
export const eventJson = (value: unknown): string =>
  jsonText(value, {
    other: (other) => (other instanceof Uint8Array ? Buffer.from(other).toString() : String(other)),
  })

const OF_JOB = /^salt\/(?:job|run|wheel|batch)\//

const jidIn = ({ jid }: Event['data']): string | undefined =>
  typeof jid === 'string' && /^\d{20}/.test(jid) ? jid : undefined
