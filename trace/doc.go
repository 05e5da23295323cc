// Package trace has the command trace.get, which searches calls. Package
// journal keeps calls and searches them; the live tail is an endpoint of
// package api.
package trace
