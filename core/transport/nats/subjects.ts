/**
 * The subjects of a fleet. All begin with its prefix:
 *
 *     PREFIX.requests        requests to a master; the masters are a queue group
 *     PREFIX.requests.NAME   requests to the master of that name
 *     PREFIX.publish         publications to all subscribers
 *     PREFIX.publish.TOPIC   publications under a topic
 *     PREFIX.presence        subscribers that introduce themselves to all masters
 *     PREFIX.control         masters that start or stop
 *     PREFIX.inbox.…         answers, and further pieces of large messages
 */
export const subjectsOf = (prefix: string) => ({
  requests: `${prefix}.requests`,
  requestsTo: (master: string) => `${prefix}.requests.${tokenOf(master)}`,
  publish: (topic?: string) => `${prefix}.publish${topic === undefined ? '' : `.${tokenOf(topic)}`}`,
  everyTopic: `${prefix}.publish.*`,
  presence: `${prefix}.presence`,
  control: `${prefix}.control`,
  inbox: `${prefix}.inbox`,
})

export type Subjects = ReturnType<typeof subjectsOf>

/** Whether answers may be sent to a subject. A master may publish to subjects that are forbidden to the sender of a request. */
export const isInInbox = (
  subject: string | undefined,
  { inbox }: Pick<Subjects, 'inbox'>,
): subject is string => subject?.startsWith(`${inbox}.`) === true

/** Name of the queue group of masters. */
export const MASTERS = 'masters'

/**
 * Return the topic of a publication by its subject; undefined if it has none. A token that is not a valid encoding is returned
 * unchanged, as a topic without subscribers.
 */
export function topicOf(subject: string, { publish }: Subjects): string | undefined {
  const token = subject.slice(publish().length + 1)
  if (token === '') return undefined
  try {
    return token === EMPTY ? '' : decodeURIComponent(token)
  } catch {
    return token
  }
}

/** Stands for an empty topic; no other text is encoded as this. */
const EMPTY = '%'

/** Encode text as one token of a subject. */
const tokenOf = (text: string): string =>
  text === ''
    ? EMPTY
    : encodeURIComponent(text).replace(/[.*~]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)
