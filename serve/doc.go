// Package serve joins the packages to one running service: wiring.go makes the parts, and
// commands.go lists their commands. The command line, the benchmarks and the torture tests
// all start it through Start, so they measure what is shipped.
package serve
