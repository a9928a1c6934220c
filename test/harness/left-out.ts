import type { TestModule } from 'vitest/node'

interface Lacking {
  readonly command: string
  readonly files: Set<string>
  tests: number
}

/** Which tests were left out, for lack of what, and the command that helps; undefined if all ran, but for slow ones if the run was to be without them. */
export function leftOut(modules: readonly TestModule[], withoutSlow = false): string | undefined {
  const found = new Map<string, Lacking>()
  for (const module of modules)
    for (const test of module.children.allTests('skipped')) {
      const { lacks } = test.meta()
      if (withoutSlow && !lacks && test.tags.includes('slow')) continue
      const { what, command } = lacks ?? UNSAID
      const lacking = found.get(what) ?? { command, files: new Set(), tests: 0 }
      lacking.tests++
      lacking.files.add(module.relativeModuleId)
      found.set(what, lacking)
    }
  return found.size === 0 ? undefined : ['Tests were left out:', ...[...found].flatMap(paragraph)].join('\n')
}

const UNSAID = { what: 'a reason', command: 'see the file: it skips tests without needs(…)' }

const paragraph = ([what, { command, files, tests }]: [string, Lacking]): string[] => [
  `  ${tests} for lack of ${what}. To run them: ${command}`,
  ...[...files].map((file) => `    ${file}`),
]
