/** Templates of `salt-ts create`. Each is imported when it is used: `salt-ts` starts without their texts. */
import type { KindName } from '../../../loader/kinds.ts'
import type { Template } from './template.ts'

export type { Template } from './template.ts'

interface Entry {
  /** What users type for the kind. */
  readonly word: string
  load(): Promise<{ readonly template: Template }>
}

const entries: Readonly<Record<KindName, Entry>> = {
  modules: { word: 'module', load: () => import('./modules.ts') },
  runners: { word: 'runner', load: () => import('./runners.ts') },
  wheel: { word: 'wheel', load: () => import('./wheel.ts') },
  utils: { word: 'utils', load: () => import('./utils.ts') },
  returners: { word: 'returner', load: () => import('./returners.ts') },
  grains: { word: 'grains', load: () => import('./grains.ts') },
  outputters: { word: 'outputter', load: () => import('./outputters.ts') },
  matchers: { word: 'matcher', load: () => import('./matchers.ts') },
  executors: { word: 'executor', load: () => import('./executors.ts') },
  engines: { word: 'engine', load: () => import('./engines.ts') },
  auth: { word: 'auth', load: () => import('./auth.ts') },
  fileserver: { word: 'fileserver', load: () => import('./fileserver.ts') },
}

export const templateWords: readonly string[] = Object.values(entries).map(({ word }) => word)

/** Find the kind that a word means, in singular or plural: `module` or `modules`, `grain` or `grains`. */
export function kindOf(word: string): KindName | undefined {
  const kinds = Object.entries(entries) as [KindName, Entry][]
  return kinds.find(([kind, entry]) => [kind, entry.word].includes(word) || kind === `${word}s`)?.[0]
}

export const loadTemplate = async (kind: KindName): Promise<Template> => (await entries[kind].load()).template
