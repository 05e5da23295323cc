// Package value says what a JSON value is: what events carry, expressions
// compute with and pipelines pass on. It is nil, bool, int, float64, string,
// []any or map[string]any, or a json.Number where neither int nor float64 holds
// a number exactly. Values are shared, never copied: treat them as read-only.
//
// Values are decoded, encoded, weighed, compared and described here, and here is
// how deep and how large they may be. Package expression computes with them, and
// the conversions between formats are in package step. The root package turns an
// Error of this package into one of its own.
package value
