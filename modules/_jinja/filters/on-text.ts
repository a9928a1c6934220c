import type { Filter } from '../environment.ts'
import { withoutArguments } from '../values/arguments.ts'
import { strictText } from '../values/text.ts'

/** Make a filter of texts, which takes no arguments and refuses other values. */
export const onText = (change: (shown: string) => unknown): Filter =>
  withoutArguments((value) => change(strictText(value)))
