import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Longest kinds of tests first, so that no long file is left for the end, when other workers have nothing to do. */
const KINDS = ['/test/e2e/', '/test/integration/', '.server.test.ts', '/test/contract/']

/**
 * Isolated files come before the others of their kind: they end the processes that have loaded the modules for others. Linux starts
 * programs slowly from a process with much memory, so that new processes pay between kinds, and only there.
 */
const rank = ({ moduleId, project }: TestSpecification): number => {
  const kind = KINDS.findIndex((part) => moduleId.includes(part))
  return (kind < 0 ? KINDS.length : kind) - (project.config.isolate ? 0.5 : 0)
}

/** Sorts test files by kind within each group of projects, and otherwise as Vitest does. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = (file: TestSpecification) => file.project.config.sequence.groupOrder
    const sorted = await super.sort(files)
    return sorted.sort((a, b) => order(a) - order(b) || rank(a) - rank(b))
  }
}
