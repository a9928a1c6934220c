const MARKS = /\{[{%#]/

/** Whether Jinja would render a text to itself: it has no expression, statement or comment. */
export const isPlain = (text: string): boolean => !MARKS.test(text)

/** Whether texts cannot be rendered without a template engine: by another one than Jinja, or with marks of Jinja. */
export const needsEngine = (template: string, texts: readonly string[]): boolean =>
  template !== 'jinja' || !texts.every(isPlain)
