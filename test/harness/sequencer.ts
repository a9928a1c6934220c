import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Longest kinds of tests first, so that no long file is left for the end, when other workers have nothing to do. Isolated files come
 * before all others: each of them would end a process that has loaded the modules for the files that share it.
 */
const KINDS = ['.isolated.test.ts', '/test/e2e/', '/test/integration/', '.server.test.ts']

const rank = ({ moduleId }: TestSpecification): number => {
  const index = KINDS.findIndex((kind) => moduleId.includes(kind))
  return index < 0 ? KINDS.length : index
}

/** Sorts test files by kind within each group of projects, and otherwise as Vitest does. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = (file: TestSpecification) => file.project.config.sequence.groupOrder
    const sorted = await super.sort(files)
    return sorted.sort((a, b) => order(a) - order(b) || rank(a) - rank(b))
  }
}
