const MARKS = /\{[{%#]/

/** Whether Jinja would render a text to itself: it has no expression, statement or comment. */
export const isPlain = (text: string): boolean => !MARKS.test(text)
