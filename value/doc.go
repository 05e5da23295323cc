// Package value says what a JSON value is: what events carry, expressions
// compute with and pipelines pass on. It is nil, bool, int, float64, string,
// []any or map[string]any, or a json.Number where neither int nor float64 holds
// a number exactly. Values are shared, never copied: treat them as read-only.
//
// The package decodes, encodes, weighs, compares and describes values, and limits how deep
// and large they may be. Package expression computes with them, and package step converts
// them between formats. The root package turns an Error of this package into its own.
package value
