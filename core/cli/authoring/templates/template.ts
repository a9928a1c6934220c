/** What `salt-ts create` writes for a kind of extension. The files type-check, and their tests pass. */
export interface Template {
  /** Text of the extension with this name. */
  source(name: string): string
  test(name: string): string
  /** A command that tries it out, or what else to do for that. */
  tryOut(name: string): string
}

export const TEST_HEAD = "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n"
export const RUN_HEAD = `${TEST_HEAD}import { run } from 'salt-ts/testing'\n`
