// Package expression compiles and runs the expressions of pipelines: texts with #{…} or
// ${…} in them. The language and its parser are expr-lang's. The evaluation is our own,
// because every operation must be bounded: authors are half trusted, payloads not at all,
// and without limits one expression could block a core for hours.
//
// An expression works on JSON values, as package value defines them, and internally on
// times and durations, which leave it as text. Values are shared, never copied: treat
// them as read-only.
//
// The list of operators and built-in functions is testdata/language.golden.
package expression
