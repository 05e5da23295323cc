// Package expression compiles and runs the expressions of pipelines: texts with
// #{…} or ${…} in them. The language is that of expr-lang, whose parser is
// used; it is run here, not by expr-lang's machine, because every operation
// must be bounded: authors are half trusted, payloads not at all, and without a
// limit on its steps one expression could hold the machine for hours.
//
// An expression works on JSON values, as package value defines them, and within
// itself on times and durations, which leave it as text. Values are shared, never
// copied: treat them as read-only.
//
// The list of operators and built-in functions is testdata/language.golden.
package expression
