import { type LoaderSettings, openLoader } from '../../loader/index.ts'
import { matchingDocs } from './docs.ts'

/** Return the documentation of runners, or of wheel functions if those are asked for. */
export async function runnerDocs(
  settings: LoaderSettings,
  wheel: boolean,
  word: string | undefined,
): Promise<Map<string, string>> {
  const wheels = openLoader('wheel', settings).view
  if (wheel) return matchingDocs(wheels, word)
  const runners = openLoader('runners', settings).view
  if (word === undefined) return matchingDocs(runners, word)
  const known = [...(await runners.functions(word)), ...(await runners.functions(`${word}.*`))]
  const isWheel = known.length === 0 && (await wheels.modules(word.split('.')[0])).length > 0
  return matchingDocs(isWheel ? wheels : runners, word)
}
