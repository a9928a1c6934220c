import { jsonText } from '../../dialect/json.ts'
import { type Event, tags } from '../../events/index.ts'

/** An event as readers get it, encoded once for all of them. */
export interface Frame {
  /** Size in bytes. */
  readonly length: number
  /** For readers of server-sent events. */
  readonly sse: Buffer
  /**
   * For websockets, in the form of rest_cherrypy (`websocket`) and of rest_tornado (`plain`). Comments have neither,
   * since those protocols have no comments.
   */
  readonly websocket?: Buffer
  readonly plain?: Buffer
  /** Tag and job id of the event, if it has them. */
  readonly tag?: string
  readonly jid?: string
  /** The event is about a job or run, whether it has an id or not. */
  readonly isAboutJob?: boolean
  /** The owner of the job, if the event names it. */
  readonly owner?: string
}

/**
 * An event in the form of Salt's `/events`: `tag: …`, `data: {…}` and an empty line. Websockets get it without the
 * first line.
 */
export class EventFrame implements Frame {
  readonly sse: Buffer
  readonly websocket: Buffer
  readonly plain: Buffer
  readonly tag: string
  readonly jid?: string
  readonly isAboutJob: boolean
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
    this.isAboutJob = OF_JOB.test(tag)
    if (typeof data.owner === 'string') this.owner = data.owner
  }

  get length(): number {
    return this.sse.length
  }
}

/** Create a comment of server-sent events: clients skip it, people see it. */
export function commentFrame(text: string): Frame {
  const sse = Buffer.from(`: ${text}\n\n`)
  return { sse, length: sse.length }
}

/** Return the JSON of event data. Bytes that are not text are decoded as UTF-8. */
export const eventJson = (value: unknown): string =>
  jsonText(value, {
    other: (other) => (other instanceof Uint8Array ? Buffer.from(other).toString() : String(other)),
  })

const OF_JOB = /^salt\/(?:job|run|wheel|batch)\//

const jidIn = ({ jid }: Event['data']): string | undefined =>
  typeof jid === 'string' && /^\d{20}/.test(jid) ? jid : undefined
