import { callsOf, type PublishedCall } from '../loader/index.ts'
import { makeVerdict, type Verdict } from '../wire/catalogue.ts'
import { type JobLoad, readJobLoad } from '../wire/publication.ts'
import type { JobWords } from '../wire/typed-words.ts'
import type { MasterLink } from './master-link.ts'

export interface CheckSettings {
  readonly id: string
  readonly link: Pick<MasterLink, 'request'>
  /** Why each would be refused, or null; undefined if that does not become clear. */
  check(calls: readonly PublishedCall[]): Promise<Verdict['refusals'] | undefined>
}

/** A master asks whether calls would work, before it publishes them: `arg` of the question is their `fun` and `arg`. */
export async function answerCheck(
  question: JobLoad,
  words: JobWords | undefined,
  { id, link, check }: CheckSettings,
): Promise<void> {
  const [fun, arg] = question.arg
  const asked = readJobLoad({ ...question, fun, arg })
  const refusals = asked && (await check(callsOf({ ...asked, words })))
  if (refusals) await link.request(makeVerdict(id, { jid: question.jid, refusals }))
}
